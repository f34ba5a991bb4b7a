/**
 * A controller that posts notices on a board and removes them, with all settings for when and how often it
 * reconciles.
 */
import {
  and,
  deletionStarted,
  exponential,
  generationChanged,
  labelsChanged,
  NoRetryError,
  or,
  type ControllerSpec,
  type Kind,
  type Metrics,
  type Obj,
  type Predicate,
  type View,
} from 'espalier/runtime';

export interface Notice extends Obj {
  spec: { text: string };
  status?: { posted?: string; error?: string };
}

export const notices: Kind<Notice> = {
  group: 'board.example.org',
  version: 'v1',
  kind: 'Notice',
  plural: 'notices',
  namespaced: true,
};

/** The board. Both calls are idempotent. */
export interface Board {
  post(id: string, text: string, signal: AbortSignal): Promise<void>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

const LONGEST = 280;
const idOf = ({ metadata }: View<Notice>): string => metadata.uid ?? '';
const isPublic = ({ metadata }: View<Notice>): boolean => metadata.labels?.['audience'] === 'public';
const concernsThePublic: Predicate<Notice> = {
  add: (notice) => isPublic(notice),
  update: (old, notice) => isPublic(old) || isPublic(notice),
};

export function noticeController(board: Board, metrics: Metrics): ControllerSpec<Notice> {
  const posts = metrics.counter({ name: 'notices_posted_total', help: 'Notices posted.', zero: [{}] });
  return {
    name: 'notices',
    kind: notices,

    // The events that trigger a reconcile.
    defaults: false,
    filter: and<Notice>(concernsThePublic, or(generationChanged, labelsChanged, deletionStarted)),

    // The number of concurrent reconciles, their timeout, and their rate limit.
    maxConcurrent: 4,
    reconcileTimeoutMs: 10_000,
    limit: { reconciles: 5, perMs: 60_000 },
    retry: exponential({ initialMs: 500, factor: 2, maxMs: 60_000, maxAttempts: 8 }),
    syncPeriodMs: 3_600_000,

    finalizer: 'board.example.org/posted',
    reconciler: {
      async reconcile(notice, ctx) {
        const object = ctx.draft();
        object.status = {};
        if (!isPublic(notice)) {
          await board.remove(idOf(notice), ctx.signal);
          return { write: 'status', object };
        }
        const { text } = notice.spec;
        if (text.length > LONGEST)
          throw new NoRetryError({ message: `a notice has at most ${LONGEST} characters` });
        await board.post(idOf(notice), text, ctx.signal);
        posts.inc();
        object.status.posted = text;
        return { write: 'status', object };
      },

      async cleanup(notice, ctx) {
        await board.remove(idOf(notice), ctx.signal);
        return { finalizer: 'remove' };
      },

      async onError(notice, ctx, error) {
        const { message } = error as Error;
        if (ctx.lastAttempt) ctx.event('Warning', 'NotPosted', message);
        const status = { ...notice.status, error: message };
        return { retry: true, status: { ...ctx.draft(), status } };
      },
    },
  };
}
