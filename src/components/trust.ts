/**
 * To which registries and chart repositories a connection is made. Their certificate authorities: those of Node, those of
 * files that the configuration names, which are read again when they change, and those of single credentials. And their
 * addresses: none of this machine or its link, unless the configuration allows it.
 */
import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import {
  lookupFor,
  namesThisMachine,
  refuseLocal,
  type ChosenBy,
  type LocalAddresses,
} from '../lib/local-addresses.ts';
import { secureContextWith } from '../lib/secure-context.ts';
import type { FileState } from '../lib/watched-file.ts';
import { certificatesIn } from './authorities.ts';
import {
  ConfiguredFiles,
  nameOf,
  type ConfiguredFile,
  type Parsed,
  type ReportFile,
} from './configured-files.ts';
import { RepositoryUnusable } from './errors.ts';

/** Certificates of one file, or why there are none. */
type Certificates = { readonly pem: string } | { readonly problem: string };

interface Trusted {
  /** Differs for different authorities. */
  readonly key: string;
  readonly context: SecureContext;
}

/** Options of a connection, for undici. */
interface Connect {
  /** Differs for different options. */
  readonly key: string;
  readonly connect: { readonly secureContext?: SecureContext; readonly lookup?: LookupFunction };
}

interface TrustOptions {
  readonly files?: readonly ConfiguredFile[];
  readonly report?: ReportFile;
  /** Default: `named`. */
  readonly local?: LocalAddresses | undefined;
}

/** Each one has parsed all authorities. */
const MAX_CONTEXTS = 20;

export class Trust {
  readonly #files: ConfiguredFiles<Certificates>;
  readonly #contexts = new Map<string, SecureContext>();

  readonly #local: LocalAddresses;

  constructor({ files = [], report = () => undefined, local = 'named' }: TrustOptions = {}) {
    this.#files = new ConfiguredFiles(files, parsed, report);
    this.#local = local;
  }

  /** @param more further authorities, in PEM */
  connect(more: string | undefined, chosenBy: ChosenBy): Connect {
    const { key, context } = this.with(more) ?? { key: '' };
    const lookup = this.#local === 'all' ? undefined : lookupFor(chosenBy);
    return {
      key: `${chosenBy} ${key}`,
      connect: { ...(context && { secureContext: context }), ...(lookup && { lookup }) },
    };
  }

  /**
   * Who has chosen the address of a request that may have been redirected. A server on this machine may redirect to another one
   * here; if no local addresses are allowed, a user can choose no more than a redirect. Names are checked when they are looked up.
   * @throws LocalAddress
   */
  chooserOf(url: URL, first: URL): ChosenBy {
    const isNamed = url.origin === first.origin || namesThisMachine(first);
    const chosenBy = isNamed && this.#local !== 'none' ? 'user' : 'redirect';
    if (this.#local !== 'all') refuseLocal(url, chosenBy);
    return chosenBy;
  }

  /** @param more further authorities, in PEM. @returns undefined if only those of Node are trusted */
  with(more?: string): Trusted | undefined {
    const all = [...this.configured, ...(more === undefined ? [] : [more])];
    if (all.length === 0) return undefined;
    const key = createHash('sha256').update(all.join('\n')).digest('hex');
    const context = this.#contexts.get(key) ?? secureContextWith(all);
    this.#contexts.delete(key);
    this.#contexts.set(key, context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > MAX_CONTEXTS && oldest !== undefined) this.#contexts.delete(oldest);
    return { key, context };
  }

  /** The certificates of the files at this moment, in PEM. */
  get configured(): readonly string[] {
    return this.#files.current().flatMap((each) => ('pem' in each ? [each.pem] : []));
  }

  /** Why files cannot be used. */
  get problems(): readonly string[] {
    return this.#files.current().flatMap((each) => ('problem' in each ? [each.problem] : []));
  }
}

function parsed(file: ConfiguredFile, state: FileState): Parsed<Certificates> {
  const unusable = (problem: string) => ({ value: { problem }, problems: [problem] });
  if ('problem' in state) return unusable(`${nameOf(file)} ${state.problem}`);
  try {
    return { value: { pem: certificatesIn(state.text, nameOf(file)) }, problems: [] };
  } catch (error) {
    if (!(error instanceof RepositoryUnusable)) throw error;
    return unusable(error.message);
  }
}
