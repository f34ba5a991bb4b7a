/** Reads the logs of several pods: first what they have logged, ordered by time, then new lines as they arrive. */
import type { Cluster } from '../../cluster.ts';
import { lineFor } from '../../report-error.ts';
import type { Entry, LogFilter } from './filter.ts';
import { isAboutOnePod, readLog, type LogSource } from './pods.ts';

interface PodLogsPorts {
  readonly cluster: Pick<Cluster, 'stream'>;
  readonly sources: readonly LogSource[];
  readonly filter: LogFilter;
  readonly sinceSeconds: number | undefined;
  readonly warn: (message: string) => void;
}

export class PodLogs {
  readonly #ports: PodLogsPorts;
  readonly #lastStamps = new Map<LogSource, string>();
  /** Whether the log of a pod could not be read. */
  hasFailed = false;

  constructor(ports: PodLogsPorts) {
    this.#ports = ports;
  }

  /** The selected lines that exist already. */
  async history(): Promise<readonly Entry[]> {
    const { cluster, sources, filter, sinceSeconds } = this.#ports;
    const entries: Entry[] = [];
    await this.#ofEach(sources, async (source) => {
      for await (const { stamp, text } of readLog(cluster, source, { sinceSeconds })) {
        if (stamp !== '') this.#lastStamps.set(source, stamp);
        const entry = filter.select(text);
        if (entry) entries.push(entry);
      }
    });
    return entries.sort(byTime);
  }

  /** Resolves when all pods have ended, or the signal aborts. */
  async follow(print: (entry: Entry) => void, signal: AbortSignal): Promise<void> {
    const { cluster, sources, filter, sinceSeconds, warn } = this.#ports;
    await this.#ofEach(
      sources,
      async (source) => {
        const after = this.#lastStamps.get(source);
        for await (const { text } of readLog(cluster, source, { sinceSeconds, after, follow: signal })) {
          const entry = filter.select(text);
          if (entry) print(entry);
        }
        warn(`the log of pod ${source.namespace}/${source.pod} has ended`);
      },
      signal,
    );
  }

  /** The failure of one pod does not end the reading of the others. */
  async #ofEach(
    sources: readonly LogSource[],
    read: (source: LogSource) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const readSafely = async (source: LogSource): Promise<void> => {
      try {
        await read(source);
      } catch (error) {
        if (signal?.aborted) return;
        if (!isAboutOnePod(error)) throw error;
        this.hasFailed = true;
        this.#ports.warn(lineFor(error));
      }
    };
    await Promise.all(sources.map(readSafely));
  }
}

const timeOf = ({ line }: Entry): string => String(line['time']);
const byTime = (a: Entry, b: Entry): number => {
  const [first, second] = [timeOf(a), timeOf(b)];
  return first < second ? -1 : Number(first > second);
};
