/** Selects media type and transformation of an answer from the Accept header. */
import { table } from '../../lib/objects.ts';
import { notAcceptable } from '../status.ts';

type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Accept {
  readonly media: 'json' | 'yaml';
  readonly as?: Transform;
  /** Version of the Table. */
  readonly version: string;
  /** Whether aggregated discovery is accepted, or the only accepted form. */
  readonly discovery?: 'v2';
  readonly pretty: boolean;
}

const PLAIN: Accept = { media: 'json', version: 'v1', pretty: false };
const TRANSFORMS: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const MEDIA: Readonly<Record<string, 'json' | 'yaml'>> = table({
  'application/json': 'json',
  'application/yaml': 'yaml',
  '*/*': 'json',
  'application/*': 'json',
  // kubectl requests it only for the OpenAPI v2 document, which is always answered in this form
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf': 'json',
});

const known = new Map<string, Accept | null>();

/**
 * The first supported entry of the header.
 * @throws ApiError 406 if there is none
 */
export function negotiate(header: string, pretty: boolean): Accept {
  let accept = known.get(header);
  if (accept === undefined) {
    accept = parse(header) ?? null;
    if (known.size > 1000) known.clear();
    known.set(header, accept);
  }
  if (accept === null)
    throw notAcceptable(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  return pretty ? { ...accept, pretty } : accept;
}

function parse(header: string): Accept | undefined {
  if (header.trim() === '') return PLAIN;
  for (const entry of header.split(',')) {
    const [type = '', ...rest] = entry.split(';').map((part) => part.trim());
    const media = MEDIA[type];
    if (media === undefined) continue;
    const parameters = new Map(rest.map((p) => p.split('=', 2) as [string, string]));
    const as = parameters.get('as');
    const version = parameters.get('v') ?? 'v1';
    if (as === undefined) return { ...PLAIN, media };
    if (as === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io') {
      if (version === 'v2') return { ...PLAIN, media, discovery: 'v2' };
      continue;
    }
    if (!TRANSFORMS.includes(as) || parameters.get('g') !== 'meta.k8s.io') continue;
    if (version === 'v1' || (as === 'Table' && version === 'v1beta1'))
      return { ...PLAIN, media, as: as as Transform, version };
  }
  return undefined;
}

/** Whether the answer is indented for a human reader. */
export const wantsPretty = (query: URLSearchParams, userAgent: string): boolean => {
  const asked = query.get('pretty');
  if (asked !== null) return asked === '' || asked === '1' || asked === 'true';
  return /^(curl|Wget|Mozilla)\//.test(userAgent);
};
