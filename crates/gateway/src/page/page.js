// The page of a gateway: what the forwarder tells of itself, every two seconds, and rates between.
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
    location.assign("/ndn" + name);
  }
});

look();
