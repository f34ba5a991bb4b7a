// After the last test nothing may keep the process alive: a forgotten server or watch is a mistake, not a reason to hang.
const PATIENCE_MS = 10_000;

export function mochaGlobalTeardown() {
  setTimeout(() => {
    const busy = [...new Set(process.getActiveResourcesInfo())].join(', ');
    console.error(`the tests have ended, but something keeps the process alive: ${busy}`);
    // Mocha sets its own code when the process ends; this listener comes after it.
    process.on('exit', () => {
      process.exitCode = 1;
    });
    process.exit();
  }, PATIENCE_MS).unref();
}
