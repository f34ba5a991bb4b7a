/** The audit log: a ring buffer of audit events in memory. */
import type { UserInfo } from '../types.ts';

interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: 'Metadata';
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete';
  readonly requestURI: string;
  readonly verb: string;
  readonly user: UserInfo;
  readonly impersonatedUser?: UserInfo;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef?: AuditObjectRef;
  readonly responseStatus: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface AuditObjectRef {
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly apiGroup?: string;
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** All given members must match; a string matches exactly, a pattern anywhere. */
interface AuditFilter {
  readonly user?: string | RegExp;
  readonly userAgent?: string | RegExp;
  readonly verb?: string | RegExp | readonly string[];
  readonly resource?: string | RegExp;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly code?: number;
}

const CAPACITY = 50_000;

/** Verbs that read, and verbs that write; a watch is neither. */
const READS: readonly string[] = ['get', 'list'];
export const WRITES: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];

class AuditSlice {
  readonly events: readonly AuditEvent[];

  constructor(events: readonly AuditEvent[]) {
    this.events = events;
  }

  by(filter: AuditFilter): AuditSlice {
    return new AuditSlice(this.events.filter((event) => matches(event, filter)));
  }

  get count(): number {
    return this.events.length;
  }

  get reads(): number {
    return this.by({ verb: READS }).count;
  }

  get writes(): number {
    return this.by({ verb: WRITES }).count;
  }
}

export class AuditLog {
  readonly #events: AuditEvent[] = [];
  #dropped = 0;

  record(event: AuditEvent): void {
    this.#events.push(event);
    if (this.#events.length > CAPACITY) {
      this.#events.splice(0, CAPACITY / 10);
      this.#dropped += CAPACITY / 10;
    }
  }

  /** A position in the log, for `since`. */
  mark(): number {
    return this.#dropped + this.#events.length;
  }

  /** Events recorded after `mark`; requests are recorded when they are answered, watches when they start. */
  since(mark: number): AuditSlice {
    return new AuditSlice(this.#events.slice(Math.max(0, mark - this.#dropped)));
  }

  all(): AuditSlice {
    return this.since(0);
  }
}

function matches(event: AuditEvent, filter: AuditFilter): boolean {
  const ref = event.objectRef;
  return (
    fits(filter.user, event.user.username) &&
    fits(filter.userAgent, event.userAgent) &&
    fits(filter.verb, event.verb) &&
    fits(filter.resource, ref?.resource ?? '') &&
    fits(filter.subresource, ref?.subresource ?? '') &&
    fits(filter.namespace, ref?.namespace ?? '') &&
    fits(filter.name, ref?.name ?? '') &&
    (filter.code === undefined || filter.code === event.responseStatus.code)
  );
}

function fits(wanted: string | RegExp | readonly string[] | undefined, actual: string): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'string') return wanted === actual;
  return wanted instanceof RegExp ? wanted.test(actual) : wanted.includes(actual);
}
