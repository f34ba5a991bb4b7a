/** A test that cannot run here says why. */
export function skip(context: Mocha.Context, reason: string): never {
  console.log(`      skipped: ${reason}`);
  return context.skip();
}
