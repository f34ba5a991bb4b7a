/** The provenance of a release: an in-toto statement with a SLSA predicate, not signed. Pure. */
import { createHash } from 'node:crypto';

/** What the files of a release were built from. */
export interface Materials {
  readonly version: string;
  /** The platforms of the images; none: no images. */
  readonly platforms: readonly string[];
  /** Address of the Git repository; undefined if package.json names none. */
  readonly repository: string | undefined;
  readonly commit: string;
  /** Content of package-lock.json, which has the digest of each package. */
  readonly lockFile: string;
  /** The base image of the build, such as node:26.10.0-slim, and its digest if known: sha256:…. */
  readonly base: { readonly image: string; readonly digest?: string } | undefined;
}

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** @param files digests (SHA-256) of the files of the release, by name */
export function provenanceOf(files: ReadonlyMap<string, string>, materials: Materials): object {
  const { version, platforms, repository, commit, lockFile, base } = materials;
  const source = {
    name: 'source',
    ...(repository !== undefined && { uri: `git+${repository}@${commit}` }),
    digest: { gitCommit: commit },
  };
  const packages = { name: 'package-lock.json', digest: { sha256: sha256(lockFile) } };
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, digest]) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:espalier:make-release:v1',
        externalParameters: { version, platforms },
        resolvedDependencies: [source, packages, ...(base ? [imageOf(base)] : [])],
      },
      // No build system vouches for this statement: the user who runs `make release` is the builder.
      runDetails: { builder: { id: 'urn:espalier:make-release' } },
    },
  };
}

function imageOf({ image, digest }: NonNullable<Materials['base']>): object {
  const [algorithm = '', hash = ''] = (digest ?? image.split('@')[1] ?? '').split(':');
  return { name: image.split('@')[0], ...(hash && { digest: { [algorithm]: hash } }) };
}

/** The default of NODE_IMAGE in a Dockerfile. */
export const baseOf = (dockerfile: string): string | undefined =>
  /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1];
