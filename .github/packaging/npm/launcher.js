#!/usr/bin/env node
// Runs the program from the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@mdsel/${platform}/bin/mdsel`);
} catch {
  console.error(
    `mdsel: no program for ${platform}: @mdsel/${platform} is not installed ` +
      "(npm leaves it out with --omit=optional, and on platforms without a package; " +
      "build from source with `cargo install mdsel`)",
  );
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A client that stops the server signals this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`mdsel: ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
