/** The images of a release, built from the Dockerfile by buildah. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { archive, isInstalled, run } from './run.ts';

interface ImageTask {
  readonly root: string;
  /** Folder for the archives. */
  readonly target: string;
  readonly version: string;
  /** Seconds since 1970, for all files and the image. */
  readonly date: string;
  /** Such as `linux/arm64`; empty: that of this machine. Others need binfmt handlers, which run foreign programs. */
  readonly platforms: readonly string[];
}

/** @returns the reason if there is no image. @throws ReleaseError if a build fails */
export function imagesIn(task: ImageTask): readonly string[] {
  if (!isInstalled('buildah'))
    return ['no images: buildah is not installed; its builds are reproducible, so others are not used'];
  const platforms = task.platforms.length > 0 ? task.platforms : [hostPlatform()];
  for (const platform of platforms) build(platform, task);
  return [];
}

const hostPlatform = (): string => `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

function build(platform: string, { root, target, version, date }: ImageTask): void {
  const arch = platform.split('/').slice(1).join('-');
  const name = `espalier:${version}`;
  const image = `localhost/espalier:${version}-${arch}`;
  const fixed = ['--format', 'oci', '--timestamp', date, '--no-cache'];
  run('buildah', ['build', '--platform', platform, ...fixed, '--tag', image, '.'], root);
  const layout = join(target, 'layout');
  run('buildah', ['push', image, `oci:${layout}:${name}`], root);
  archive(join(target, `espalier-image-${version}-${arch}.tar`), { folder: layout, date });
  rmSync(layout, { recursive: true });
}
