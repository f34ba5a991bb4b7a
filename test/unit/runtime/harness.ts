/** A cache on a scripted API and a clock that stands still, and its subscribers. */
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCache } from '../../../src/runtime/cache/cache.ts';
import type { CacheOptions, Change, Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { ScriptedApi, THINGS, type Thing } from '../../support/scripted-api.ts';

/** `update ns/a 11→12`, `delete ns/a 12 unknown` */
export function told(change: Change<Obj>): string {
  const { namespace, name, resourceVersion } = change.obj.metadata;
  const where = `${namespace ?? ''}/${name}`;
  switch (change.type) {
    case 'add':
      return `add ${where} ${resourceVersion ?? ''}${change.initial ? ' initial' : ''}`;
    case 'update': {
      const from = change.old.metadata.resourceVersion ?? '';
      return `update ${where} ${from}→${resourceVersion ?? ''}${change.relisted ? ' relisted' : ''}`;
    }
    case 'delete':
      return `delete ${where} ${resourceVersion ?? ''}${change.finalStateUnknown ? ' unknown' : ''}`;
  }
}

export function harness(options: CacheOptions<Thing> & { syncTimeoutMs?: number } = {}) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const stop = new AbortController();
  const cache = createCache(api, THINGS, {
    ...options,
    clock,
    rng: seededRng(1),
    log: silentLogger,
    freeze: true,
  });
  return {
    api,
    clock,
    cache,
    stop: () => {
      stop.abort(new Error('stop'));
    },
    signal: stop.signal,
    /** The events that a subscriber receives from now on. */
    listen(name = 'me', ownEvents: 'filter' | 'deliver' = 'filter'): string[] {
      const heard: string[] = [];
      cache.subscribe({ name, ownEvents, on: (change) => heard.push(told(change)) });
      return heard;
    },
    async start(): Promise<void> {
      const started = cache.start(stop.signal);
      started.catch(() => undefined);
      await settle();
    },
  };
}
