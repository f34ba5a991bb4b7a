/** A test that cannot run here says why: on the terminal, and to reporters. */
export function skip(context: Mocha.Context, reason: string): never {
  console.log(`      skipped: ${reason}`);
  if (context.test) Object.assign(context.test, { reason });
  return context.skip();
}
