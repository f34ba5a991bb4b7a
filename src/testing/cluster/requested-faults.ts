/** Faults that a test requests for single requests. */
import type { ScriptedFault } from '../network/faults.ts';
import type { Sent } from '../network/exchange.ts';
import type { RequestMatch } from '../scenario.ts';

const READS = new Set(['get', 'list', 'watch']);

/** Whether a request changes something that users see: no reads, Events and Leases. */
export const isWrite = ({ verb, kind }: Pick<Sent, 'verb' | 'kind'>): boolean =>
  !READS.has(verb) && kind !== 'Event' && kind !== 'Lease';

interface Armed extends RequestMatch {
  readonly fault: ScriptedFault;
  isStruck: boolean;
}

export class RequestedFaults {
  readonly #armed: Armed[] = [];

  add(fault: ScriptedFault, match: RequestMatch): { readonly isStruck: boolean } {
    const armed: Armed = { ...match, fault, isStruck: false };
    this.#armed.push(armed);
    return armed;
  }

  /** The oldest fault that this request matches. */
  strike(sent: Sent): ScriptedFault | undefined {
    const armed = this.#armed.find((each) => matches(each, sent));
    if (!armed) return undefined;
    this.#armed.splice(this.#armed.indexOf(armed), 1);
    armed.isStruck = true;
    return armed.fault;
  }
}

const matches = (match: RequestMatch, sent: Sent): boolean =>
  (match.verb === undefined ? isWrite(sent) : match.verb === sent.verb) &&
  (match.kind === undefined || match.kind === sent.kind) &&
  (match.key === undefined || match.key === sent.key);
