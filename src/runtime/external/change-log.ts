/** Records the changes that were sent to a service, for audits. */
import { copy } from '../../lib/json.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Key } from '../types.ts';
import { messageOf } from '../../lib/message-of.ts';
import type { ExternalHandler, ExternalObject } from './types.ts';

/** One call of a step that changes the service. */
export interface ChangeRecord {
  /** When the step ended, RFC 3339 with milliseconds. */
  readonly at: string;
  readonly controller: string;
  readonly kind: string;
  readonly key: Key;
  readonly uid: string;
  /** Of the resource in the service; empty if the service chooses it. */
  readonly name: string;
  readonly operation: 'create' | 'update' | 'delete';
  /** The spec that the step received. */
  readonly spec: object | undefined;
  readonly durationMs: number;
  /** Why the step failed; absent if it succeeded. */
  readonly error?: string;
}

/** Receives each record once; what it throws is logged and has no other effect. */
export type ChangeLog = (record: ChangeRecord) => void;

interface ChangeLogPorts {
  readonly changeLog: ChangeLog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly controller: string;
  readonly kind: string;
  readonly key: Key;
}

/** The same handler, whose changes are recorded. */
export function withChangeLog<M extends ExternalObject>(
  handler: ExternalHandler<M>,
  ports: ChangeLogPorts,
): ExternalHandler<M> {
  const { changeLog, clock, log, controller, kind, key } = ports;
  const recorded = async <R>(
    operation: ChangeRecord['operation'],
    object: M,
    name: string,
    step: () => Promise<R>,
  ): Promise<R> => {
    const startedAt = clock.now();
    const spec = copy(object.spec);
    const record = (error?: string): void => {
      try {
        changeLog({
          at: new Date(clock.wall()).toISOString(),
          controller,
          kind,
          key,
          uid: object.metadata.uid ?? '',
          name,
          operation,
          spec,
          durationMs: clock.now() - startedAt,
          ...(error !== undefined && { error }),
        });
      } catch (err) {
        log.error({ err, operation }, 'the change log failed');
      }
    };
    try {
      const result = await step();
      record();
      return result;
    } catch (error) {
      record(messageOf(error));
      throw error;
    }
  };
  return {
    observe: (object, name) => handler.observe(object, name),
    create: (object, name) => recorded('create', object, name, () => handler.create(object, name)),
    update: (object, name) => recorded('update', object, name, () => handler.update(object, name)),
    delete: (object, name) => recorded('delete', object, name, () => handler.delete(object, name)),
    ...(handler.recover && { recover: handler.recover.bind(handler) }),
    disconnect: () => handler.disconnect?.() ?? Promise.resolve(),
  };
}
