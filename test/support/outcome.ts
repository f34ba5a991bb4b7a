/** Lets chai check how a promise ended. */

/** Returns a function that returns the value of the promise, or throws its rejection: for `to.throw`. */
export async function outcome<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
