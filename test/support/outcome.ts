/** Lets chai look at how a promise ended. */

/** Answers with a function that returns the promise's value, or throws what it was rejected with: for `to.throw`. */
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
