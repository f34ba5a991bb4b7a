/**
 * Parses descriptors, and verifies them with digests and signatures. The time grows with the size, which a tenant's
 * registry decides, so large descriptors are processed in a worker process.
 */
import { exactJson } from '../lib/exact-json.ts';
import { BYTES_OF_VALUE, JsonScan } from '../lib/json-scan.ts';
import type { Pace } from '../lib/pace.ts';
import { sizeText } from '../lib/sizes.ts';
import { parseYaml, YamlError } from '../lib/yaml.ts';
import { DESCRIPTOR_STRINGS, nameOf, readDescriptor, type Component, type Reference } from './descriptor.ts';
import { ContentInvalid, ContentTooLarge } from './errors.ts';
import { verifySignature, type Trust } from './signature.ts';
import { verifyReference } from './verify.ts';

/** The largest known descriptors have some hundred KiB. */
export const MAX_DESCRIPTOR_BYTES = 4 * 2 ** 20;
/** JSON of this depth can be written on the stack of every version of Node.js. Known descriptors have about ten levels. */
const MAX_DEPTH = 3000;
/** Larger descriptors are processed in a worker process; parsing this much YAML takes about 10 ms. */
const HERE_BYTES = 16 * 2 ** 10;

/** A descriptor with its size: bytes as JSON, or 32 bytes for each value if that is more. */
export interface SizedComponent {
  readonly component: Component;
  readonly bytes: number;
}

/** A descriptor to parse: YAML, or an object. */
export interface DescriptorJob {
  readonly source: { readonly text: string } | { readonly document: unknown };
  /** For messages. */
  readonly what: string;
}

export interface ReferenceJob {
  readonly from: Pick<Component, 'name' | 'version'>;
  readonly reference: Reference;
  readonly target: Component;
}

export interface SignatureJob {
  readonly component: Component;
  readonly name: string;
  readonly trust: Trust;
}

/** Pure functions of plain data: they run in any process. */
export const descriptorWork = {
  /** @throws ContentInvalid, DescriptorInvalid */
  readDescriptor({ source, what }: DescriptorJob): SizedComponent {
    const component = readDescriptor('text' in source ? parsed(source.text, what) : source.document, what);
    const bytes = sizeOf(component, what);
    if (bytes <= MAX_DESCRIPTOR_BYTES) return { component, bytes };
    throw new ContentTooLarge(
      `${what} has more than ${sizeText(MAX_DESCRIPTOR_BYTES)} as JSON, where a value counts at least ${String(BYTES_OF_VALUE)} bytes; this limit is fixed`,
    );
  },
  verifyReference: ({ from, reference, target }: ReferenceJob): boolean =>
    verifyReference(from, reference, target),
  verifySignature: ({ component, name, trust }: SignatureJob): void => {
    verifySignature(component, name, trust);
  },
};

export interface DescriptorRunner {
  /** @throws ContentInvalid, DescriptorInvalid */
  readDescriptor(job: DescriptorJob): Promise<SizedComponent>;
  /** Whether the digest of the reference verifies the target. @throws ContentInvalid */
  verifyReference(job: ReferenceJob): Promise<boolean>;
  /** @throws SignatureInvalid */
  verifySignature(job: SignatureJob): Promise<void>;
}

/** Runs in this thread. For programs without other work meanwhile. */
export const descriptorsHere: DescriptorRunner = {
  readDescriptor: (job) => settled(() => descriptorWork.readDescriptor(job)),
  verifyReference: (job) => settled(() => descriptorWork.verifyReference(job)),
  verifySignature: (job) =>
    settled(() => {
      descriptorWork.verifySignature(job);
    }),
};

/** Small descriptors are processed in this thread, because sending them takes as long; large ones by `worker`. */
export function inWorkerIfLarge(worker: DescriptorRunner, pace: Pace): DescriptorRunner {
  const placeFor = async (bytes: number): Promise<DescriptorRunner> => {
    if (bytes > HERE_BYTES) return worker;
    await pace.rest();
    return descriptorsHere;
  };
  const placeForOne = (one: Component): Promise<DescriptorRunner> =>
    placeFor(jsonOf(one, nameOf(one)).length);
  return {
    async readDescriptor(job) {
      const { source, what } = job;
      const bytes = 'text' in source ? source.text.length : jsonOf(source.document, what).length;
      return (await placeFor(bytes)).readDescriptor(job);
    },
    verifyReference: async (job) => (await placeForOne(job.target)).verifyReference(job),
    verifySignature: async (job) => (await placeForOne(job.component)).verifySignature(job),
  };
}

const settled = <T>(run: () => T): Promise<T> => new Promise((resolve) => resolve(run()));

/** JSON is valid YAML. */
function parsed(text: string, what: string): unknown {
  try {
    return parseYaml(text, { strings: DESCRIPTOR_STRINGS });
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    throw new ContentInvalid(`${what} is not valid YAML: ${cause.message}`, { cause });
  }
}

function sizeOf(component: Component, what: string): number {
  const json = Buffer.from(jsonOf(component, what));
  const scan = new JsonScan({ maxDepth: MAX_DEPTH, maxElements: Infinity });
  if (scan.feed(json)) throw tooDeep(what);
  return Math.max(json.length, BYTES_OF_VALUE * scan.elements);
}

/** @throws ContentInvalid */
function jsonOf(value: unknown, what: string): string {
  try {
    return exactJson(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw tooDeep(what, cause);
  }
}

const tooDeep = (what: string, cause?: unknown): ContentInvalid =>
  new ContentInvalid(`${what} is nested more than ${String(MAX_DEPTH)} levels deep; this limit is fixed`, {
    cause,
  });
