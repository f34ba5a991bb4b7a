// Ends the process if it is still alive some time after the last test: an open server or watch is an error in a
// test.
const PATIENCE_MS = 10_000;

export function mochaGlobalTeardown() {
  setTimeout(() => {
    const busy = [...new Set(process.getActiveResourcesInfo())].join(', ');
    console.error(`the tests have ended, but the process is kept alive by: ${busy}`);
    // Mocha sets the exit code when the process ends; this listener runs after it.
    process.on('exit', () => {
      process.exitCode = 1;
    });
    process.exit();
  }, PATIENCE_MS).unref();
}
