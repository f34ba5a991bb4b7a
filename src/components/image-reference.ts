/** References to images and other artifacts in registries: host, repository, and a tag or digest. */
import { ReferenceInvalid } from './errors.ts';
import { isDigest } from './digest.ts';

interface ImageReference {
  readonly host: string;
  readonly repository: string;
  /** The digest if there is one, otherwise the tag. */
  readonly reference: string;
}

const DOCKER = 'registry-1.docker.io';
const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;

/** @throws ReferenceInvalid */
export function parseImageReference(text: string): ImageReference {
  const [beforeDigest = '', digest, ...rest] = text.split('@');
  const tag = /:([^:/]+)$/.exec(beforeDigest)?.[1];
  const path = tag === undefined ? beforeDigest : beforeDigest.slice(0, -tag.length - 1);
  const [first = '', ...others] = path.split('/');
  const isHost = others.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const host = isHost ? first : 'docker.io';
  const name = isHost ? others.join('/') : path;
  const isHub = host === 'docker.io' || host === 'index.docker.io';
  const repository = isHub && !name.includes('/') ? `library/${name}` : name;
  const reference = digest ?? tag ?? 'latest';
  const isValid =
    rest.length === 0 &&
    REPOSITORY.test(repository) &&
    /^[\w.:[\]-]+$/.test(host) &&
    (digest === undefined ? TAG.test(reference) : isDigest(digest));
  if (!isValid) throw new ReferenceInvalid(`"${text.slice(0, 300)}" is not a valid image reference`);
  return { host: isHub ? DOCKER : host, repository, reference };
}

/** Whether a string is a valid repository path. */
export const isRepositoryPath = (text: string): boolean => REPOSITORY.test(text);
