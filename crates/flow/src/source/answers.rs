//! A function that answers.

use packet::Interest;

use super::{Reply, Source, SourceError};

/// What [`answer_with`] makes of a function.
#[derive(Clone, Copy, Debug)]
pub struct AnswerWith<F>(F);

/// A source that asks `answer` what to reply.
///
/// ```
/// use cairn_flow::source::{Reply, Source, answer_with};
/// use packet::ndn::{DataBuilder, InterestBuilder};
///
/// let mut echo = answer_with(|interest| {
///     let data = DataBuilder::new(interest.name().to_name()).content(b"here".to_vec());
///     Ok(Reply::Data(data.build_with_digest()?))
/// });
/// let interest = InterestBuilder::new("/lab/echo/1".parse()?).build()?;
/// assert!(matches!(echo.answer(&interest)?, Reply::Data(data) if data.content() == b"here"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn answer_with<F>(answer: F) -> AnswerWith<F>
where
    F: FnMut(&Interest) -> Result<Reply, SourceError>,
{
    AnswerWith(answer)
}

impl<F> Source for AnswerWith<F>
where
    F: FnMut(&Interest) -> Result<Reply, SourceError>,
{
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        (self.0)(interest)
    }
}
