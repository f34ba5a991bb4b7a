/** Fetches the content of a resource, depending on the type of its access. */
import { isGzip } from '../lib/gzip.ts';
import { ownField, table } from '../lib/objects.ts';
import { isTar } from '../lib/tar.ts';
import type { ArtifactStore } from './artifact.ts';
import { nameOf, type Component, type Resource } from './descriptor.ts';
import { BlobMissing, ComponentProblem, ContentInvalid } from './errors.ts';
import { parseImageReference } from './image-reference.ts';
import { artifactContent } from './oci-repository.ts';
import type { Content, FoundComponent, LocalBlob } from './repository.ts';
import { verifyResource } from './verify.ts';

export interface AccessPorts {
  registry(address: string): ArtifactStore;
}

/** @throws ContentInvalid; errors of registries and repositories */
export async function fetchResource(
  found: FoundComponent,
  resource: Resource,
  ports: AccessPorts,
): Promise<Content> {
  const content = await fetchContent(found, resource, ports);
  await verifyResource(found.component, resource, content);
  return content;
}

async function fetchContent(found: FoundComponent, resource: Resource, ports: AccessPorts): Promise<Content> {
  const { component, repository } = found;
  const access = resource.access ?? { type: 'none' };
  const blob = (found: LocalBlob): Content => ({
    kind: 'blob',
    bytes: found.bytes,
    mediaType: field(access, 'mediaType') || ownMediaType(found),
  });
  const local = async (key: string): Promise<Content> =>
    blob(await repository.localBlob(component, required(component, resource, key)));
  switch (access.type.replace(/\/v\d+\w*$/, '')) {
    case 'localBlob':
      return localOrGlobal(found, resource, ports, () => local('localReference'));
    case 'localOciBlob':
      return local('digest');
    case 'localFilesystemBlob':
      return local('filename');
    case 'ociArtifact':
    case 'ociRegistry':
    case 'ociImage': {
      const image = parseImageReference(required(component, resource, 'imageReference'));
      return artifactContent(ports.registry(image.host), image.repository, image.reference);
    }
    case 'ociBlob': {
      const { host, repository: path } = parseImageReference(required(component, resource, 'ref'));
      const digest = required(component, resource, 'digest');
      return blob({ bytes: await ports.registry(host).blob(path, { digest }) });
    }
    case 'relativeOciReference': {
      if (repository.relativeArtifact)
        return repository.relativeArtifact(required(component, resource, 'reference'));
      throw cannot(
        component,
        resource,
        `is relative to a registry, but ${repository.name} is not a registry`,
      );
    }
    default:
      throw cannot(component, resource, whyNot(access.type));
  }
}

const UNSPECIFIC = 'application/octet-stream';

/** The media type of a blob whose access does not have one: that of its layer, or of an archive in its content. */
function ownMediaType({ bytes, mediaType = '' }: LocalBlob): string {
  if (mediaType !== '' && mediaType !== UNSPECIFIC) return mediaType;
  if (isGzip(bytes)) return 'application/gzip';
  return isTar(bytes) ? 'application/x-tar' : mediaType;
}

/** A local blob may have a global location, for users who have the descriptor but not its repository. */
async function localOrGlobal(
  found: FoundComponent,
  resource: Resource,
  ports: AccessPorts,
  local: () => Promise<Content>,
): Promise<Content> {
  try {
    return await local();
  } catch (missing) {
    const notFetched = ownField(resource.access, 'globalAccess');
    const type = ownField(notFetched, 'type');
    if (!(missing instanceof BlobMissing) || typeof type !== 'string' || type.startsWith('local'))
      throw missing;
    const access = { ...(notFetched as object), type };
    return fetchContent(found, { ...resource, access }, ports).catch((error: unknown) => {
      throw error instanceof ComponentProblem && !error.isPassing ? missing : error;
    });
  }
}

/** Access types that upstream supports and we do not: tenants must not make this process call arbitrary addresses. */
const UNSUPPORTED_ACCESS: Readonly<Record<string, string>> = table({
  none: 'has no content: its access type is none',
  git: 'is a source in git, which is not fetched here; add its content to the component as a localBlob',
  gitHub: 'is a source on GitHub, which is not fetched here; add its content to the component as a localBlob',
  helm: 'is in a Helm chart repository, which the Helm deployer reads, but templates and blueprints cannot; for these store it as an ociArtifact or localBlob',
  wget: 'is at an address on the web, which is not fetched here; add its content to the component as a localBlob',
  s3: 'is in an S3 bucket, which is not read here; add its content to the component as a localBlob',
  npm: 'is an npm package, which is not fetched here; add its content to the component as a localBlob',
  maven: 'is a Maven artifact, which is not fetched here; add its content to the component as a localBlob',
  ocm: 'is a resource of another component; refer to that component and read it from there',
});
const ALIASES: Readonly<Record<string, string>> = table({
  github: 'gitHub',
  web: 'wget',
  None: 'none',
  S3: 's3',
});

function whyNot(type: string): string {
  const plain = type.replace(/\/v\d+\w*$/, '');
  const name = ALIASES[plain] ?? plain;
  return UNSUPPORTED_ACCESS[name] ?? `cannot be read here: access of type ${type} is unknown`;
}

const field = (access: object, key: string): string => {
  const value = ownField(access, key);
  return typeof value === 'string' ? value : '';
};

function required(component: Component, resource: Resource, key: string): string {
  const value = field(resource.access ?? {}, key);
  if (value === '') throw cannot(component, resource, `has an access without ${key}`);
  return value;
}

const cannot = (component: Component, { name }: Resource, why: string): ContentInvalid =>
  new ContentInvalid(`resource ${name} of component ${nameOf(component)} ${why}`);
