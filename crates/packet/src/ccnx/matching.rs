//! Which ContentObject answers which Interest (CCNx 0.8, "Interest").
//!
//! Freshness, AnswerOriginKind and Scope are no part of this: they ask whether a cache or a face may be used
//! at all.

use crate::ccnx::content_object::ContentObjectView;
use crate::ccnx::exclude::ExcludeRef;
use crate::ccnx::interest::InterestView;
use crate::ccnx::name::CcnxNameRef;
use crate::ccnx::selectors::PublisherIdKind;

/// Whether `object` answers `interest`. Computes the object's digest only if the answer depends on it.
pub fn matches(interest: &InterestView<'_>, object: &ContentObjectView<'_>) -> bool {
    matches_with_digest(interest, object, || object.implicit_digest())
}

/// The same, for those who keep digests: `digest` is called at most once.
///
/// The full name of an object is its name and, as one more component, its digest. The Interest's name must be
/// a prefix of it, leaving as many components as the Interest allows, the first of which is not excluded.
pub fn matches_with_digest(
    interest: &InterestView<'_>,
    object: &ContentObjectView<'_>,
    digest: impl FnOnce() -> [u8; 32],
) -> bool {
    let object = (object.name(), || Some(object.publisher()));
    let excludes = |exclude: ExcludeRef<'_>, component: &[u8]| exclude.excludes(component);
    matches_name(interest.name(), Some(interest), object, digest, excludes)
}

/// The same for an Interest for `prefix`, with the selectors in `interest` if there are any, and an object of
/// which only the name is at hand, and who can say its publisher. `excludes`, too, is called at most once.
pub(crate) fn matches_name<'a, 'o>(
    prefix: CcnxNameRef<'a>,
    interest: Option<&InterestView<'a>>,
    (name, publisher): (CcnxNameRef<'o>, impl FnOnce() -> Option<&'o [u8; 32]>),
    digest: impl FnOnce() -> [u8; 32],
    excludes: impl FnOnce(ExcludeRef<'a>, &[u8]) -> bool,
) -> bool {
    let Some(suffix_components) = (name.len() + 1).checked_sub(prefix.len()) else {
        return false;
    };
    if let Some(interest) = interest {
        let allowed = interest.min_suffix_components()..=interest.max_suffix_components();
        if !u16::try_from(suffix_components).is_ok_and(|count| allowed.contains(&count)) {
            return false;
        }
        if let Some(wanted) = interest.publisher()
            && wanted.kind == PublisherIdKind::PublicKey
            && publisher().is_none_or(|publisher| wanted.digest != publisher)
        {
            return false;
        }
    }
    if suffix_components == 0 {
        // The Interest names one object by its digest, so there is nothing left that could be excluded.
        return prefix.split_last().is_some_and(|(before, last)| before == name && last == digest());
    }
    if !prefix.is_prefix_of(&name) {
        return false;
    }
    let Some(exclude) = interest.and_then(|interest| interest.exclude()) else { return true };
    match name.component(prefix.len()) {
        Some(next) => !excludes(exclude, next),
        None => !excludes(exclude, &digest()),
    }
}
