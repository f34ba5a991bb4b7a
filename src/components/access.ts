/** Fetches what a resource consists of, by the type of its access. */
import { ownField } from '../lib/objects.ts';
import type { ArtifactStore } from './artifact.ts';
import { nameOf, type Component, type Resource } from './descriptor.ts';
import { ContentInvalid } from './errors.ts';
import { parseImageReference } from './imagereference.ts';
import { artifactContent } from './ocirepository.ts';
import type { Content, FoundComponent } from './repository.ts';
import { verifyResource } from './verify.ts';

export interface AccessPorts {
  registry(address: string): ArtifactStore;
}

/** @throws ContentInvalid and what registries and repositories throw */
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
  const blob = (bytes: Uint8Array): Content => ({
    kind: 'blob',
    bytes,
    mediaType: field(access, 'mediaType'),
  });
  const local = async (key: string): Promise<Content> =>
    blob(await repository.localBlob(component, required(component, resource, key)));
  switch (access.type.replace(/\/v\d+\w*$/, '')) {
    case 'localBlob':
      return local('localReference');
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
      return blob(await ports.registry(host).blob(path, { digest: required(component, resource, 'digest') }));
    }
    case 'relativeOciReference': {
      if (repository.relativeArtifact)
        return repository.relativeArtifact(required(component, resource, 'reference'));
      throw cannot(component, resource, `is relative to a registry, and ${repository.name} is none`);
    }
    default:
      throw cannot(
        component,
        resource,
        `cannot be read here: access of type ${access.type} is not supported`,
      );
  }
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
