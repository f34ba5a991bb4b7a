/** Keys of namespaces that were added, and whose secondaries have not been listed yet: they wait until they are. */
import { namespaceOf } from '../keys.ts';
import type { WorkItem, WorkQueue } from '../queue/queue.ts';
import type { SourceSet } from '../sources/source-set.ts';
import type { Key } from '../types.ts';

export class UnreadNamespaces {
  readonly #sources: Pick<SourceSet<never>, 'whenRead'>;
  readonly #queue: Pick<WorkQueue, 'add'>;
  /** The waiting keys with their priorities, by namespace. */
  readonly #waiting = new Map<string, Map<Key, number>>();

  constructor(sources: Pick<SourceSet<never>, 'whenRead'>, queue: Pick<WorkQueue, 'add'>) {
    this.#sources = sources;
    this.#queue = queue;
  }

  /** Whether a key must wait. Its namespace may be removed meanwhile: its keys are then queued again, too. */
  holds({ key, priority }: Pick<WorkItem, 'key' | 'priority'>): boolean {
    const namespace = namespaceOf(key);
    const waiting = this.#waiting.get(namespace);
    if (waiting) {
      waiting.set(key, Math.max(priority, waiting.get(key) ?? priority));
      return true;
    }
    const read = this.#sources.whenRead(namespace);
    if (!read) return false;
    this.#waiting.set(namespace, new Map([[key, priority]]));
    void read.then(() => {
      this.#release(namespace);
    });
    return true;
  }

  #release(namespace: string): void {
    const waiting = this.#waiting.get(namespace) ?? [];
    this.#waiting.delete(namespace);
    for (const [key, priority] of waiting) this.#queue.add(key, priority);
  }
}
