/** Faults that a test requests for single requests. */
import type { ScriptedFault } from '../network/faults.ts';
import type { SentRequest } from '../network/exchange.ts';
import type { RequestMatch } from '../scenario.ts';

const READS = new Set(['get', 'list', 'watch']);

/** Whether a request changes something that users see: no reads, Events and Leases. */
export const isWrite = ({ verb, kind }: Pick<SentRequest, 'verb' | 'kind'>): boolean =>
  !READS.has(verb) && kind !== 'Event' && kind !== 'Lease';

interface Armed extends RequestMatch {
  readonly fault: ScriptedFault;
  isInjected: boolean;
}

export class RequestedFaults {
  readonly #armed: Armed[] = [];

  add(fault: ScriptedFault, match: RequestMatch): { readonly isInjected: boolean } {
    const armed: Armed = { ...match, fault, isInjected: false };
    this.#armed.push(armed);
    return armed;
  }

  /** The oldest fault that this request matches. */
  takeFault(sent: SentRequest): ScriptedFault | undefined {
    const armed = this.#armed.find((each) => matches(each, sent));
    if (!armed) return undefined;
    this.#armed.splice(this.#armed.indexOf(armed), 1);
    armed.isInjected = true;
    return armed.fault;
  }
}

const matches = (match: RequestMatch, sent: SentRequest): boolean =>
  (match.verb === undefined ? isWrite(sent) : match.verb === sent.verb) &&
  (match.kind === undefined || match.kind === sent.kind) &&
  (match.key === undefined || match.key === sent.key);
