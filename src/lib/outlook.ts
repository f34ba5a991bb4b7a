/**
 * What a repetition of something that failed can achieve: the one classification of errors, as data. Deployers, components,
 * charts and writes use it; no decision depends on the text of a message. Pure.
 */
import { isDefiniteFault } from './connection.ts';
import { isNestedTooDeeply } from './message-of.ts';

/**
 * `final`: it fails again until someone changes something. `unknown`: a few repetitions show which of the others it is.
 * `passing`: it may succeed later without a change.
 */
export type Outlook = 'final' | 'unknown' | 'passing';

/** How often something with an unknown outlook is tried. Takes about ten seconds. */
export const MAX_TRIES = 3;

type Statuses = Readonly<Record<number, Outlook>>;

/** Statuses with which a server says that it could not answer, or not yet. */
const PASSING: Statuses = {
  408: 'passing',
  425: 'passing',
  429: 'passing',
};

/**
 * What an HTTP status means, by the kind of server. `api`: an API server; an object or kind that does not exist may be
 * created, credentials may be renewed, and a server that has just started denies requests until it has read its roles. `files`: registries and chart
 * repositories; what they do not have or do not give, someone must publish or permit.
 */
const byStatus: Readonly<Record<'api' | 'files', Statuses>> = {
  api: {
    ...PASSING,
    400: 'final',
    403: 'unknown',
    404: 'passing',
    405: 'passing',
    409: 'passing',
    410: 'passing',
    413: 'final',
    415: 'final',
    422: 'final',
  },
  files: PASSING,
};

/** What servers of the kind mean by a status that is not listed; 5xx may always pass. */
const others: Readonly<Record<'api' | 'files', Outlook>> = { api: 'passing', files: 'final' };

export const outlookOfStatus = (server: 'api' | 'files', status: number): Outlook =>
  status >= 500 ? 'passing' : (byStatus[server][status] ?? others[server]);

/** An error that knows its outlook; undefined: its cause decides. */
interface WithOutlook {
  readonly outlook: Outlook | undefined;
}

const hasOutlook = (error: Error): error is Error & WithOutlook => 'outlook' in error;

/** Causes of causes that are followed. */
const MAX_DEPTH = 20;

/**
 * The outlook of an error: the first of it and its causes that knows it; otherwise that of the connection. Of several errors
 * together, the worst. Errors of unknown classes count as passing: the timeout of the job is their limit.
 */
export function outlookOf(error: unknown, depth = 0): Outlook {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return 'passing';
  if (hasOutlook(error) && error.outlook !== undefined) return error.outlook;
  if (error instanceof AggregateError && error.errors.length > 0)
    return worst(error.errors.map((each) => outlookOf(each, depth + 1)));
  if (error.cause !== undefined) return outlookOf(error.cause, depth + 1);
  return isDefiniteFault(error) || isNestedTooDeeply(error) ? 'final' : 'passing';
}

const worst = (all: readonly Outlook[]): Outlook =>
  (['final', 'unknown'] as const).find((one) => all.includes(one)) ?? 'passing';
