// The main thread of a child process that runs extensions, each in a worker thread of its own.
//
// Only this file speaks with the host: frames come in over one pipe and go out over another. No extension runs on this
// thread, so it can always end one that hangs. It ends with its whole process group when the host closes the pipe.

"use strict";

const fs = require("fs");
const net = require("net");

// A frame: length of the rest (4 bytes), extension (4), number (8), kind (1), flag (1), length of the name (2), name, text.
const HEADER = 20;

/// Takes the pipes away from the standard streams, which belong to the extensions and to the programs that they start.
function privatePipes() {
  try {
    const pipes = { input: fs.openSync("/dev/fd/0", "r"), output: fs.openSync("/dev/fd/1", "w") };
    fs.closeSync(0);
    fs.openSync("/dev/null", "r");
    fs.closeSync(1);
    fs.openSync("/dev/fd/2", "w");
    return pipes;
  } catch {
    return { input: 0, output: 1 };
  }
}

const pipes = privatePipes();

function writeAll(buffer) {
  for (let at = 0; at < buffer.length; ) {
    try {
      at += fs.writeSync(pipes.output, buffer, at);
    } catch (error) {
      if (error.code !== "EAGAIN") end();
    }
  }
}

function send(extension, kind, id, isOk, name, text) {
  const nameLength = Buffer.byteLength(name);
  const length = HEADER + nameLength + Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(length);
  frame.writeUInt32LE(length - 4, 0);
  frame.writeUInt32LE(extension, 4);
  frame.writeDoubleLE(id, 8);
  frame.write(kind, 16, "latin1");
  frame.writeUInt8(isOk ? 1 : 0, 17);
  frame.writeUInt16LE(nameLength, 18);
  frame.write(name, HEADER);
  frame.write(text, HEADER + nameLength);
  writeAll(frame);
}

/// Ends this process and all that it started.
function end() {
  try {
    process.kill(0, "SIGKILL");
  } finally {
    process.exit(1);
  }
}

const [major, minor] = process.versions.node.split(".").map(Number);
const isNewEnough = major > 22 || (major === 22 && minor >= 15);
send(0, "h", 0, isNewEnough, process.versions.bun ? "bun" : "node", process.versions.bun || process.versions.node);

/// The worker threads, by the numbers of their extensions.
const threads = new Map();
let setup;

function started(extension, text) {
  const { Worker, MessageChannel } = require("worker_threads");
  const { facts, memory, root } = JSON.parse(text);
  const { port1, port2 } = new MessageChannel();
  // The first number counts replies, the second one the bytes that this thread has not written yet.
  const signal = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(setup.thread, {
    eval: true,
    name: facts.name,
    stdin: false,
    stdout: true,
    stderr: true,
    workerData: { facts, root, modules: setup.modules, names: setup.names, replies: port2, signal },
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: memory },
  });
  const thread = { worker, replies: port1, signal };
  threads.set(extension, thread);
  worker.on("message", ([kind, id, isOk, name, message, size]) => {
    send(extension, kind, id, isOk, name, message);
    Atomics.sub(signal, 1, size);
    Atomics.notify(signal, 1);
  });
  const over = (name, message) => {
    if (threads.get(extension) !== thread) return;
    threads.delete(extension);
    send(extension, "e", 0, false, name, message);
  };
  worker.on("error", (error) => {
    const isMemory = error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    over(isMemory ? "memory" : "error", String((error && (error.stack || error.message)) || error));
  });
  worker.on("exit", (code) => over("exit", String(code)));
  worker.stdout.setEncoding("utf8").on("data", (text) => send(extension, "l", 0, true, "info", text));
  worker.stderr.setEncoding("utf8").on("data", (text) => send(extension, "l", 0, true, "warning", text));
}

function obey(extension, kind, id, isOk, name, text) {
  if (kind === "u") setup = JSON.parse(text);
  else if (kind === "t") started(extension, text);
  const thread = threads.get(extension);
  if (!thread) return;
  if (kind === "r") {
    thread.replies.postMessage([id, isOk, text]);
    Atomics.add(thread.signal, 0, 1);
    Atomics.notify(thread.signal, 0);
  } else if (kind === "k") {
    threads.delete(extension);
    thread.worker.terminate();
  } else if (kind !== "t") {
    thread.worker.postMessage([kind, id, isOk, name, text]);
  }
}

let parts = [];
let size = 0;

function received(part) {
  parts.push(part);
  size += part.length;
  let all;
  for (;;) {
    if (size < 4) return;
    // Parts of a long frame are put together once, when all of them are there.
    const known = all || parts[0];
    const length = known.length >= 4 ? known.readUInt32LE(0) + 4 : 0;
    if (length > size) return;
    all = all || (parts.length === 1 ? parts[0] : Buffer.concat(parts, size));
    if (length === 0) {
      parts = [all];
      continue;
    }
    const end = HEADER + all.readUInt16LE(18);
    const kind = String.fromCharCode(all[16]);
    obey(all.readUInt32LE(4), kind, all.readDoubleLE(8), all[17] === 1, all.toString("utf8", HEADER, end), all.toString("utf8", end, length));
    all = all.subarray(length);
    size = all.length;
    parts = [all];
  }
}

// Signals of the terminal are meant for the host.
for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
const input = new net.Socket({ fd: pipes.input, readable: true, writable: false });
input.on("data", received);
input.on("end", end);
input.on("error", end);
