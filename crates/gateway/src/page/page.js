// The page of a gateway: what the forwarder tells of itself and what is on its way, every two seconds, and
// rates between.
"use strict";

const EVERY_MS = 2000;
const byId = (id) => document.getElementById(id);
let before = null;

function amount(number, unit) {
  const prefixes = ["", "k", "M", "G", "T"];
  let place = 0;
  while (number >= 1000 && place < prefixes.length - 1) {
    number /= 1000;
    place += 1;
  }
  const digits = number >= 100 || place === 0 ? 0 : 1;
  return number.toFixed(digits) + " " + prefixes[place] + unit;
}

function rate(now, then, seconds, unit) {
  return then === undefined || seconds <= 0 ? "–" : amount(Math.max(0, now - then) / seconds, unit + "/s");
}

// Text of strangers is text only: nothing here is ever parsed as markup.
function element(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

function showGeneral(general, then, seconds) {
  const pairs = [
    ["Version", general.version],
    ["Interests", rate(general.in_interests, then && then.in_interests, seconds, "")],
    ["Data", rate(general.out_data, then && then.out_data, seconds, "")],
    ["Pending Interests", String(general.pit_entries)],
    ["Prefixes with routes", String(general.fib_entries)],
    ["Cached Data", String(general.cs_entries)],
  ];
  byId("general").replaceChildren(...pairs.map(([name, value]) => {
    const pair = document.createElement("div");
    pair.append(element("dt", name), element("dd", value));
    return pair;
  }));
}

function showFaces(faces, then, seconds) {
  const old = new Map((then || []).map((face) => [face.id, face]));
  byId("faces").replaceChildren(...faces.map((face) => {
    const last = old.get(face.id) || {};
    const row = document.createElement("tr");
    const cells = [
      String(face.id),
      face.remote,
      rate(face.in_bytes, last.in_bytes, seconds, "B"),
      rate(face.out_bytes, last.out_bytes, seconds, "B"),
      face.in_interests + " / " + face.out_interests,
      face.in_data + " / " + face.out_data,
    ];
    row.append(...cells.map((cell) => element("td", cell)));
    return row;
  }));
}

// Until the end, at the rate since the beginning.
function timeLeft(transfer) {
  if (transfer.total_bytes === null || transfer.sent_bytes === 0) {
    return "–";
  }
  const rate = transfer.sent_bytes / transfer.seconds;
  const seconds = Math.ceil((transfer.total_bytes - transfer.sent_bytes) / rate);
  return seconds < 60 ? seconds + " s" : Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
}

function showTransfers(transfers, then, seconds) {
  const old = new Map((then || []).map((transfer) => [transfer.number, transfer]));
  byId("no-transfers").hidden = transfers.length > 0;
  byId("transfers").replaceChildren(...transfers.map((transfer) => {
    const last = old.get(transfer.number);
    const progress = document.createElement("progress");
    if (transfer.total_bytes !== null) {
      progress.max = transfer.total_bytes;
      progress.value = transfer.sent_bytes;
    }
    const cell = document.createElement("td");
    cell.append(progress);
    const row = document.createElement("tr");
    row.append(
      element("td", transfer.name),
      cell,
      element("td", amount(transfer.sent_bytes, "B")),
      element("td", transfer.total_bytes === null ? "–" : amount(transfer.total_bytes, "B")),
      element("td", last ? rate(transfer.sent_bytes, last.sent_bytes, seconds, "B")
        : amount(transfer.sent_bytes / Math.max(transfer.seconds, 0.001), "B/s")),
      element("td", timeLeft(transfer)),
    );
    return row;
  }));
}

async function showNames() {
  const none = byId("no-names");
  try {
    const answer = await fetch("/-/names.json", { cache: "no-store" });
    if (!answer.ok) {
      throw new Error("the forwarder does not tell its names (" + answer.status + ")");
    }
    const names = await answer.json();
    byId("names").replaceChildren(...names.prefixes.map((prefix) => {
      const link = element("a", prefix.name);
      link.href = prefix.path;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    none.textContent = names.more > 0 ? "and " + names.more + " more"
      : names.prefixes.length > 0 ? "" : "none yet";
  } catch (error) {
    none.textContent = error.message;
  }
}

async function look() {
  const state = byId("state");
  try {
    const answer = await fetch("/-/status.json", { cache: "no-store" });
    if (!answer.ok) {
      throw new Error("the forwarder does not answer (" + answer.status + ")");
    }
    const now = await answer.json();
    now.at = performance.now();
    const seconds = before ? (now.at - before.at) / 1000 : 0;
    showGeneral(now.general, before && before.general, seconds);
    showTransfers(now.transfers, before && before.transfers, seconds);
    showFaces(now.faces, before && before.faces, seconds);
    before = now;
    state.className = "";
    state.textContent = now.faces.length + " faces";
  } catch (error) {
    state.className = "bad";
    state.textContent = error.message;
  }
  setTimeout(look, EVERY_MS);
}

byId("fetch").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("name").value.trim().replace(/^ndn:/, "");
  if (name.startsWith("/")) {
    // Beside this page, which shows how it comes.
    window.open("/ndn" + name, "_blank", "noopener");
  }
});

byId("again").addEventListener("click", showNames);
showNames();

look();
