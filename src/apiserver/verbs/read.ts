/** Get, list and watch. */
import type { Answer, Call, World } from '../api.ts';
import { decodeContinue, encodeContinue } from '../store/continue.ts';
import {
  checkFieldSelector,
  fieldText,
  parseFieldSelector,
  selectableFields,
} from '../selectors/field-selectors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { listOptions, parseRev } from '../http/options.ts';
import type { ListOptions } from '../http/options.ts';
import { parseLabelSelector, SelectorError } from '../selectors/selectors.ts';
import { badRequest, expired, notFound, plainFailure, rvTooLarge, tooOldForWatch } from '../status.ts';
import type { ApiError } from '../status.ts';
import type { Entry, Resource } from '../store/storage.ts';
import type { Predicate } from '../types.ts';
import { convertViews, jsonOf, storeKey, viewOf } from '../store/view.ts';
import { bookmarkFrame, frame, frameFor } from '../store/watch-hub.ts';
import type { Form, Sink, WatchRequest } from '../store/watch-hub.ts';
import { watchForm } from '../http/answer.ts';

/** How long a request waits for a resource version in the future. */
const FUTURE_REV_MS = 3000;

export async function get(world: World, call: Call, kind: Kind): Promise<Answer> {
  const { namespace, name } = call.info;
  const rev = parseRev(call.query.get('resourceVersion') ?? '', plainFailure);
  if (rev !== undefined) await untilRev(world, rev);
  const entry = world.store.get(kind.resource, storeKey(kind, namespace, name));
  if (!entry) throw notFound(kind, name);
  await convertViews([entry], kind);
  return { type: 'object', code: 200, kind, object: viewOf(entry, kind), entry };
}

export async function list(world: World, call: Call, kind: Kind): Promise<Answer> {
  const options = listOptions(call.query, false);
  const matches = selection(kind, options);
  const asked = parseRev(options.resourceVersion, (why) => badRequest(`invalid resource version: ${why}`));
  const resource = world.store.resource(kind.resource);
  const prefix = kind.namespaced && call.info.namespace !== '' ? `${call.info.namespace}/` : '';
  const where = await startingPoint(world, resource, options, asked);

  const all = resource.list(prefix, where.after === '' ? '' : prefix + where.after, where.at);
  const rev = where.at ?? world.store.rev;
  if (kind.webhook && matches) await convertViews(all, kind);
  const found = matches ? all.filter((entry) => matches(viewOf(entry, kind))) : all;
  const limit = asked === 0 && options.continue === '' ? 0 : Math.max(0, options.limit);
  const entries = limit === 0 ? found : found.slice(0, limit);
  if (kind.webhook) await convertViews(entries, kind);
  if (entries.length === found.length) return { type: 'list', kind, entries, rev };
  const last = entries[limit - 1] as Entry;
  return {
    type: 'list',
    kind,
    entries,
    rev,
    continue: encodeContinue(rev, last.key.slice(prefix.length)),
    ...(matches ? {} : { remaining: found.length - limit }),
  };
}

/** The revision of a list (undefined: the newest), and the key after which it starts. */
async function startingPoint(
  world: World,
  resource: Resource,
  options: ListOptions,
  asked: number | undefined,
): Promise<{ at: number | undefined; after: string }> {
  if (options.continue !== '') {
    if (asked !== undefined && asked !== 0)
      throw badRequest('specifying resource version is not allowed when using continue');
    const point = decodeContinue(options.continue);
    if (point.rev < 0) return { at: undefined, after: point.after };
    if (point.rev < resource.compactedBefore)
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
        encodeContinue(-1, point.after),
      );
    return { at: point.rev, after: point.after };
  }
  if (asked === undefined || asked === 0) return { at: undefined, after: '' };
  await untilRev(world, asked);
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0);
  if (!exact) return { at: undefined, after: '' };
  if (asked < resource.compactedBefore)
    throw expired('The resourceVersion for the provided list is too old.');
  return { at: asked, after: '' };
}

export function watch(world: World, call: Call, kind: Kind): Answer {
  const options = listOptions(call.query, true);
  const named = call.info.name === '' ? undefined : call.info.name;
  const selected = selection(kind, options);
  const matches: Predicate | undefined =
    named === undefined ? selected : (o) => o.metadata.name === named && (selected?.(o) ?? true);
  const rev = parseRev(options.resourceVersion, plainFailure);
  const request: WatchRequest = {
    kind,
    prefix: kind.namespaced && call.info.namespace !== '' ? `${call.info.namespace}/` : '',
    matches,
    form: watchForm(world, kind, call),
    bookmarks: options.allowWatchBookmarks,
    timeoutMs:
      options.timeoutSeconds > 0 ? options.timeoutSeconds * 1000 : (30 + 30 * world.rng.next()) * 60_000,
  };
  return { type: 'watch', open: (sink) => openWatch(world, request, options, rev, sink) };
}

function openWatch(
  world: World,
  request: WatchRequest,
  options: ListOptions,
  rev: number | undefined,
  sink: Sink,
): () => void {
  const { store, hub, clock } = world;
  const resource = store.resource(request.kind.resource);
  const fail = (error: ApiError): (() => void) => {
    sink.write(frame('ERROR', Buffer.from(JSON.stringify(error.body))));
    sink.end();
    return () => undefined;
  };
  const fromScratch = rev === undefined || rev === 0;
  const initial = options.sendInitialEvents ?? fromScratch;
  if (initial && !fromScratch && rev > store.rev) {
    const cancel = clock.at(clock.now() + FUTURE_REV_MS, () => fail(rvTooLarge(rev, store.rev)));
    return cancel;
  }
  if (!initial && !fromScratch && rev < resource.compactedBefore)
    return fail(tooOldForWatch(rev, resource.compactedBefore));

  const watcher = hub.add(onlyAfter(request, rev, store.rev), sink);
  if (initial) {
    const entries = resource.list(request.prefix);
    const { rev: now } = store;
    watcher.begin(entries, () => initialFrames(request, entries, now));
  } else if (!fromScratch) {
    const changes = resource.changesAfter(rev);
    const entries = changes.flatMap(({ prev, next }) => [prev, next]);
    watcher.begin(entries, () =>
      changes.map((change) => frameFor(request, change)).filter((event) => event !== undefined),
    );
  }
  return () => {
    watcher.close();
  };
}

function initialFrames(request: WatchRequest, entries: readonly Entry[], rev: number): Buffer[] {
  const { kind, matches, form, bookmarks } = request;
  const frames = entries
    .filter((entry) => !matches || matches(viewOf(entry, kind)))
    .map((entry) => frame('ADDED', encoded(form, entry, kind)));
  if (bookmarks) frames.push(bookmarkFrame(request, rev, true));
  return frames;
}

/** A watch from a revision in the future sends no events until then. */
function onlyAfter(request: WatchRequest, rev: number | undefined, current: number): WatchRequest {
  if (rev === undefined || rev <= current) return request;
  const { matches } = request;
  return {
    ...request,
    matches: (object) => Number(object.metadata.resourceVersion) > rev && (matches?.(object) ?? true),
  };
}

const encoded = (form: Form, entry: Entry, kind: Kind): Buffer =>
  form.encode ? form.encode(viewOf(entry, kind)) : jsonOf(entry, kind);

/** Label and field selectors combined; undefined if there are none. */
export function selection(
  kind: Kind,
  options: { readonly labelSelector: string; readonly fieldSelector: string },
): Predicate | undefined {
  try {
    const labels = parseLabelSelector(options.labelSelector);
    const fields = parseFieldSelector(options.fieldSelector);
    const extras = kind.builtIn ? selectableFields(kind.group, kind.kind) : kind.selectableFields;
    checkFieldSelector(fields, extras, { isCustom: !kind.builtIn });
    if (labels.isEmpty && fields.isEmpty) return undefined;
    return (object) =>
      (labels.isEmpty || labels.matches(object.metadata.labels)) &&
      (fields.isEmpty || fields.matches((field) => fieldText(object, field)));
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

function untilRev(world: World, rev: number): Promise<void> {
  if (rev <= world.store.rev) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const done = (settle: () => void): void => {
      cancel();
      world.store.listeners.delete(check);
      settle();
    };
    const check = (): void => {
      if (world.store.rev >= rev) done(resolve);
    };
    const cancel = world.clock.at(world.clock.now() + FUTURE_REV_MS, () => {
      done(() => {
        reject(rvTooLarge(rev, world.store.rev));
      });
    });
    world.store.listeners.add(check);
  });
}
