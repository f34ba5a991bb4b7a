/** The images of a release, built from the Dockerfile by buildah. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { archive, isInstalled, output, run } from './run.ts';

export interface ImageTask {
  readonly root: string;
  /** Folder for the archives. */
  readonly target: string;
  readonly version: string;
  /** Seconds since 1970, for all files and the image. */
  readonly date: string;
  /** Such as `linux/arm64`; empty: that of this machine. */
  readonly platforms: readonly string[];
  /** The base image of the build. */
  readonly nodeImage: string;
}

/** @returns the reason if there is no image. @throws ReleaseError if a build fails */
export function imagesIn(task: ImageTask): readonly string[] {
  if (!isInstalled('buildah'))
    return ['no images: buildah is not installed; its builds are reproducible, so others are not used'];
  const platforms = task.platforms.length > 0 ? task.platforms : [hostPlatform()];
  for (const platform of platforms) build(platform, task);
  return [];
}

/** The digest of a base image that a build has used; undefined if buildah does not know it. */
export function digestOfBase(image: string): string | undefined {
  const format = '{{.FromImageDigest}}';
  const digest = output('buildah', ['inspect', '--type', 'image', '--format', format, image]).trim();
  return digest === '' ? undefined : digest;
}

const hostPlatform = (): string => `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

function build(platform: string, { root, target, version, date, nodeImage }: ImageTask): void {
  const arch = platform.split('/').slice(1).join('-');
  const name = `espalier:${version}`;
  const image = `localhost/espalier:${version}-${arch}`;
  const given = [`NODE_IMAGE=${nodeImage}`, `BUILDPLATFORM=${hostPlatform()}`].flatMap((arg) => [
    '--build-arg',
    arg,
  ]);
  const fixed = ['--format', 'oci', '--timestamp', date, '--no-cache'];
  run('buildah', ['build', '--platform', platform, ...given, ...fixed, '--tag', image, '.'], root);
  const layout = join(target, 'layout');
  run('buildah', ['push', image, `oci:${layout}:${name}`], root);
  archive(join(target, `espalier-image-${version}-${arch}.tar`), { folder: layout, date });
  rmSync(layout, { recursive: true });
}
