//! Runs an experiment file: what `cairn sim run` does, for development.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("name a file")?;
    let began = std::time::Instant::now();
    let report = lab::experiment::run(
        &std::fs::read_to_string(&file)?,
        &lab::experiment::Runner { workers: None, progress: &|_, _| {} },
    )?;
    println!("{}", report.to_text());
    println!("{:.1} s", began.elapsed().as_secs_f64());
    if let Some(folder) = std::env::args().nth(2) {
        report.write_to(folder.as_ref())?;
    }
    Ok(())
}
