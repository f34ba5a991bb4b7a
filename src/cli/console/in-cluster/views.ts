/** What viewers see: those with the same rights share the trees and the feed, which contain no other objects. */
import type { Clock } from '../../../lib/clock.ts';
import { createFeed, type Feed } from '../feed.ts';
import { modelOf, type Model, type Source } from '../model.ts';
import { keyOfScope, withinScope, type Scope } from './scope.ts';

export interface View {
  readonly key: string;
  readonly scope: Scope;
  readonly model: Model;
  readonly feed: Feed;
}

export interface Views {
  /** Has to be released. */
  acquire(scope: Scope): View;
  release(view: View): void;
  close(): void;
}

export function createViews(source: Source, clock: Clock): Views {
  const shared = new Map<string, { readonly view: View; readonly stop: () => void; users: number }>();
  return {
    acquire(scope) {
      const key = keyOfScope(scope);
      const found = shared.get(key);
      if (found) {
        found.users++;
        return found.view;
      }
      const model = modelOf(
        () => withinScope(source.collected(), scope),
        () => source.problem(),
      );
      const stopListening = source.onChange(() => {
        model.changed();
      });
      const feed = createFeed(model, clock);
      const stop = (): void => {
        stopListening();
        feed.close();
      };
      const view = { key, scope, model, feed };
      shared.set(key, { view, stop, users: 1 });
      return view;
    },
    release({ key }) {
      const found = shared.get(key);
      if (!found || --found.users > 0) return;
      found.stop();
      shared.delete(key);
    },
    close() {
      for (const { stop } of shared.values()) stop();
      shared.clear();
    },
  };
}
