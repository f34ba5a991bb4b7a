/** The context controller: keeps a Context named `default` in every namespace. */
import { contextKind, type Context } from '../../src/api/kinds/context.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import { lockedPatch } from '../../src/machine/apply.ts';
import { namespaceKind, type World } from '../../src/landscape/world.ts';
import { AlreadyExists, isNamespaceTerminating } from '../../src/runtime/errors.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import type { Obj, View } from '../../src/runtime/types.ts';

export interface ContextPorts {
  readonly world: Pick<World, 'contexts'>;
  /** Namespaces that get a Context; default all. */
  readonly namespaces?: readonly string[];
  readonly excludedNamespaces?: readonly string[];
  /** Written into every default Context; the controller does not change other fields. */
  readonly repositoryContext?: Record<string, unknown>;
  readonly workers?: number;
}

const DEFAULT = 'default';

export function contextController(ports: ContextPorts): ControllerSpec<Obj> {
  const { world, repositoryContext } = ports;
  const excluded = new Set(ports.excludedNamespaces);
  const included = ports.namespaces && new Set(ports.namespaces);
  const isOurs = ({ metadata: { name, deletionTimestamp } }: View<Obj>): boolean =>
    !excluded.has(name) && (included?.has(name) ?? true) && deletionTimestamp === undefined;
  return {
    name: 'context',
    kind: namespaceKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    ...(ports.workers && { maxConcurrent: ports.workers }),
    filter: { add: isOurs, update: (_old, namespace) => isOurs(namespace) },
    // All jobs of a namespace fail without its Context, so one that is deleted or changed is restored at once.
    sources: [
      watchSource<Context, Obj>({
        cache: world.contexts,
        toPrimary: ({ metadata: { name, namespace } }) =>
          name === DEFAULT && namespace !== undefined ? [namespace] : [],
      }),
    ],
    reconciler: {
      async reconcile(primary, ctx) {
        const namespace = primary.metadata.name;
        // A namespace that is being deleted accepts no new objects, and the event may be older than the deletion.
        if (!isOurs(primary)) return { write: 'none' };
        const existing = world.contexts.get(`${namespace}/${DEFAULT}`);
        const wanted = repositoryContext && { repositoryContext };
        if (existing) {
          const diff = wanted && mergeDiff(existing, { ...existing, ...wanted });
          if (diff) await lockedPatch(contextKind, existing, diff, ctx);
          return { write: 'none' };
        }
        const object: Context = {
          apiVersion: `${contextKind.group}/${contextKind.version}`,
          kind: contextKind.kind,
          metadata: { name: DEFAULT, namespace },
          ...wanted,
        };
        try {
          await ctx.write({ verb: 'create', kind: contextKind, object }, ctx.signal);
        } catch (error) {
          if (!(error instanceof AlreadyExists) && !isNamespaceTerminating(error)) throw error;
        }
        return { write: 'none' };
      },
    },
  };
}
