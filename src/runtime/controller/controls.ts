/**
 * Executes the control that a reconciler returned: writes the primary, with as few and as small requests as possible.
 */
import { copy } from '../../lib/json.ts';
import { mergeDiff } from '../../lib/merge.ts';
import { observedGenerationOf } from '../sources/filters.ts';
import { jsonDiff } from '../transport/json-patch.ts';
import { keyOf } from '../keys.ts';
import type { Kind, Meta, Obj, UpdateControl, View, Write, WriteStrategy, Writer } from '../types.ts';

export interface ControlPorts<P extends Obj> {
  readonly kind: Kind<P>;
  readonly write: Writer;
  /** Field manager for apply requests. */
  readonly manager: string;
  /** The finalizer that the runtime manages: part of every applied intent. */
  readonly finalizer: string | undefined;
  /** The generation to store in the status, if the runtime manages it. */
  readonly observed: number | undefined;
}

type WithStatus = Obj & { status?: object };

/**
 * Writes what the control contains: first the resource, then the status, based on the response.
 * @param base what the control's object was derived from; only differences from it are written
 * @returns the newest state, which is `base` if nothing was written
 */
export function applyUpdate<P extends Obj>(
  control: UpdateControl<P>,
  base: View<P>,
  ports: ControlPorts<P>,
): Promise<View<P>> {
  switch (control.write) {
    case 'none':
      return noteObserved(base, ports);
    case 'resource':
      return writeResource(control.object, base, control.strategy, ports);
    case 'status':
      return writeStatus(
        control.object,
        base,
        { ...control, version: versionOf(control.object, base) },
        ports,
      );
    case 'both':
      return writeBoth(control, base, ports);
  }
}

async function writeBoth<P extends Obj>(
  control: Exclude<UpdateControl<P>, { write: 'none' }>,
  base: View<P>,
  ports: ControlPorts<P>,
): Promise<View<P>> {
  const answer = await writeResource(control.object, base, control.strategy, ports);
  return writeStatus(control.object, answer, { ...control, version: answer.metadata.resourceVersion }, ports);
}

/** The version at which the object was read. An object built from scratch counts as derived from `base`. */
const versionOf = (object: View<Obj>, base: View<Obj>): string | undefined =>
  object.metadata.resourceVersion ?? base.metadata.resourceVersion;

async function noteObserved<P extends Obj>(base: View<P>, ports: ControlPorts<P>): Promise<View<P>> {
  const { observed } = ports;
  if (observed === undefined || observedGenerationOf(base) === observed) return base;
  // Unconditional: the value is correct whatever others write meanwhile. The uid protects a new object of the same
  // name.
  const body = { metadata: { uid: base.metadata.uid }, status: { observedGeneration: observed } };
  return (await ports.write({
    verb: 'merge',
    kind: ports.kind,
    key: keyOf(base),
    sub: 'status',
    body,
  })) as View<P>;
}

async function writeResource<P extends Obj>(
  object: P | View<P>,
  base: View<P>,
  strategy: WriteStrategy = 'merge',
  ports: ControlPorts<P>,
): Promise<View<P>> {
  const version = versionOf(object, base);
  const write = resourceWrite(object, base, version, strategy, ports);
  return write ? ((await ports.write(write)) as View<P>) : base;
}

function resourceWrite<P extends Obj>(
  object: P | View<P>,
  base: View<P>,
  version: string | undefined,
  strategy: WriteStrategy,
  { kind, manager, finalizer }: ControlPorts<P>,
): Write<P> | undefined {
  const key = keyOf(base);
  const before = authored(base);
  const after = authored(object);
  const patch = mergeDiff(before, after) as { metadata?: object } | undefined;
  switch (strategy) {
    case 'merge': {
      if (!patch) return undefined;
      const body = { ...patch, metadata: { ...patch.metadata, resourceVersion: version } };
      return { verb: 'merge', kind, key, body, lock: true };
    }
    case 'json': {
      if (!patch) return undefined;
      const guard = { op: 'test', path: '/metadata/resourceVersion', value: version } as const;
      return { verb: 'json', kind, key, ops: [guard, ...jsonDiff(before, after)], lock: true };
    }
    case 'replace':
      return patch && { verb: 'replace', kind, object: at(object, version), lock: true };
    case 'apply': {
      const intent = at(withoutStatus(object), version);
      const finalizers = intent.metadata.finalizers ?? [];
      if (finalizer && !finalizers.includes(finalizer))
        intent.metadata.finalizers = [...finalizers, finalizer];
      return { verb: 'apply', kind, object: intent, manager, force: true, lock: true };
    }
  }
}

interface StatusWrite {
  readonly lock?: boolean;
  readonly strategy?: WriteStrategy;
  readonly version: string | undefined;
}

/** Writes only the status of `object`, if it differs from that of `base`. */
export async function writeStatus<P extends Obj>(
  object: P | View<P>,
  base: View<P>,
  how: StatusWrite,
  ports: Omit<ControlPorts<P>, 'finalizer'>,
): Promise<View<P>> {
  const { kind, manager, observed } = ports;
  const before = (base as unknown as WithStatus).status ?? {};
  const noted = observed === undefined ? {} : { observedGeneration: observed };
  const status = { ...(object as View<WithStatus>).status, ...noted };
  const patch = mergeDiff(before, status);
  if (!patch) return base;
  const isLocked = how.lock !== false;
  const version = isLocked ? how.version : undefined;
  const full = { ...at(object, version), metadata: identity(base, version), status } as unknown as P;
  const common = { kind, sub: 'status', lock: isLocked } as const;
  const key = keyOf(base);
  const send = (write: Write<P>): Promise<View<P>> => ports.write(write) as Promise<View<P>>;
  switch (how.strategy) {
    case 'apply':
      return send({ ...common, verb: 'apply', object: statusOnly(full), manager, force: true });
    case 'replace':
      return send({ ...common, verb: 'replace', object: full });
    case 'json': {
      const guard = isLocked
        ? [{ op: 'test', path: '/metadata/resourceVersion', value: version } as const]
        : [];
      const ops = jsonDiff({ status: (base as unknown as WithStatus).status }, { status });
      return send({ ...common, verb: 'json', key, ops: [...guard, ...ops] });
    }
    default: {
      const body = { ...(isLocked && { metadata: { resourceVersion: version } }), status: patch };
      return send({ ...common, verb: 'merge', key, body });
    }
  }
}

/** The fields that clients write; the server manages the others. */
function authored(obj: View<Obj>): object {
  const { metadata, status: _, ...rest } = obj as View<WithStatus>;
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return { ...rest, metadata: { labels, annotations, finalizers, ownerReferences } };
}

function at<P extends Obj>(object: P | View<P>, version: string | undefined): P {
  const result = copy(object) as P;
  if (version === undefined) delete result.metadata.resourceVersion;
  else result.metadata.resourceVersion = version;
  delete result.metadata.managedFields;
  return result;
}

function identity({ metadata }: View<Obj>, version: string | undefined): Meta {
  const { name, namespace, uid } = metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(version !== undefined && { resourceVersion: version }),
  };
}

function statusOnly<P extends Obj>(object: P): P {
  const { apiVersion, kind, metadata, status } = object as WithStatus;
  return { apiVersion, kind, metadata, status } as unknown as P;
}

function withoutStatus<P extends Obj>(object: P | View<P>): P {
  const result = { ...object } as unknown as WithStatus;
  delete result.status;
  return result as unknown as P;
}
