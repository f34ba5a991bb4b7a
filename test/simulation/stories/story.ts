/** A story runs several times, each time with another interleaving. */

const SEEDS = 6;

/** @param tell runs the story with a seed @throws the first failure, with the seed that replays it */
export function story(title: string, tell: (seed: number) => Promise<void>): void {
  it(title, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      try {
        await tell(seed);
      } catch (error) {
        if (error instanceof Error) error.message = `with seed ${seed}: ${error.message}`;
        throw error;
      }
    }
  });
}
