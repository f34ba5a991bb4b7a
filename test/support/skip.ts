/**
 * Skips a test with a reason: the reporters print each reason once, with the number of tests.
 * @param context `this` of a test, or of a hook whose tests are all skipped
 */
export function skip(context: Mocha.Context, reason: string): never {
  const { test } = context;
  if (test) Object.assign(test, { reason });
  const isHook = test !== undefined && 'type' in test && test.type === 'hook';
  if (isHook) test.parent?.eachTest((each) => Object.assign(each, { reason }));
  return context.skip();
}

/** The reason of tests that read processes. */
export const WITHOUT_PROC = 'only Linux shows processes below /proc';

/** Replaces tests that lack something. */
export const leftOut = (what: string, reason: string): Mocha.Test =>
  it(what, function () {
    skip(this, reason);
  });
