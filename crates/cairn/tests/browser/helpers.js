// Posts what the page saw; anything that goes wrong is a part of it.
async function report(look) {
  const seen = { error: null };
  try { await look(seen); } catch (error) { seen.error = String(error); }
  await fetch("/report", { method: "POST", body: JSON.stringify(seen) });
}

function happens(target, event) {
  return new Promise((resolve, reject) => {
    target.addEventListener(event, resolve, { once: true });
    target.addEventListener("error", () => reject(new Error("error instead of " + event)), { once: true });
  });
}

const milliseconds = count => new Promise(resolve => setTimeout(resolve, count));

async function until(condition) {
  for (let tries = 0; tries < 1000; tries++) {
    if (condition()) return;
    await milliseconds(10);
  }
  throw new Error("not within ten seconds: " + condition);
}
