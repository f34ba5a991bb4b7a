/**
 * Spans of one reconcile. Functions below it add spans with `inSpan`, without passing anything along; outside of a reconcile
 * that is traced it only calls the function. The spans are collected until the reconcile ends, because only then is it
 * known to which job the reconcile belongs: the first reconcile of a job creates its id.
 */
import { messageOf } from '../../lib/message-of.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Attributes, Span } from './span.ts';

/** A span that is not assigned to a trace yet. The first one of a scope has no parent. */
type LocalSpan = Omit<Span, 'traceId'>;

/** The span that is in progress. */
interface ActiveSpan {
  set(attributes: Attributes): void;
  /** Marks the span as failed, although nothing is thrown. */
  fail(message: string): void;
}

/** The spans of a scope, and how many more did not fit. */
export interface Collected {
  readonly spans: readonly LocalSpan[];
  readonly dropped: number;
}

interface Scope {
  readonly spans: LocalSpan[];
  dropped: number;
  isEnded: boolean;
  /** Milliseconds since 1970, monotonic and with fractions. */
  now(): number;
}

interface Position {
  readonly scope: Scope;
  readonly spanId: string;
}

/** A reconcile of a very large item sends thousands of requests; the first ones show the pattern. */
const MAX_SPANS = 500;

const current = new AsyncLocalStorage<Position>();
const nowhere: ActiveSpan = { set() {}, fail() {} };

/** What a span is about; `kind` is `internal` by default. */
interface SpanStart {
  readonly name: string;
  readonly kind?: Span['kind'];
  readonly attributes?: Attributes;
}

/**
 * Calls `work` within a span of the current reconcile, if it is traced. An error of `work` becomes the status of the span.
 * @param start called only if the reconcile is traced
 */
export function inSpan<T>(start: () => SpanStart, work: (span: ActiveSpan) => Promise<T>): Promise<T> {
  const position = current.getStore();
  return position && !position.scope.isEnded
    ? run(position.scope, position.spanId, start(), work)
    : work(nowhere);
}

/**
 * Calls `work` within the first span of a new scope.
 * @param onEnd receives all spans of the scope, the first span last; it must not throw
 */
export async function collectSpans<T>(
  clock: Clock,
  start: SpanStart,
  work: (span: ActiveSpan) => Promise<T>,
  onEnd: (collected: Collected) => void,
): Promise<T> {
  const offset = clock.wall() - clock.now();
  const scope: Scope = { spans: [], dropped: 0, isEnded: false, now: () => clock.now() + offset };
  try {
    return await run(scope, undefined, start, work);
  } finally {
    scope.isEnded = true;
    onEnd(scope);
  }
}

async function run<T>(
  scope: Scope,
  parentSpanId: string | undefined,
  { name, kind = 'internal', attributes: initial = {} }: SpanStart,
  work: (span: ActiveSpan) => Promise<T>,
): Promise<T> {
  const spanId = randomBytes(8).toString('hex');
  const startMs = scope.now();
  let attributes = initial;
  let error: string | undefined;
  const span: ActiveSpan = {
    set(more) {
      attributes = { ...attributes, ...more };
    },
    fail(message) {
      error = message;
    },
  };
  try {
    return await current.run({ scope, spanId }, () => work(span));
  } catch (thrown) {
    error ??= messageOf(thrown);
    attributes = { 'error.type': thrown instanceof Error ? thrown.name : typeof thrown, ...attributes };
    throw thrown;
  } finally {
    add(scope, { name, kind, spanId, parentSpanId, startMs, endMs: scope.now(), attributes, error });
  }
}

/** The first span of the scope always fits. */
function add(scope: Scope, span: LocalSpan): void {
  if (scope.isEnded) return;
  if (scope.spans.length < MAX_SPANS || span.parentSpanId === undefined) scope.spans.push(span);
  else scope.dropped++;
}
