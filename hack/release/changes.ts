/** The changes of a release, from the subjects of its commits. */
import { output } from './run.ts';

/** @returns Markdown: the subjects since the previous tag, the newest first */
export function changesSince(version: string): string {
  const tags = output('git', ['tag', '--merged', 'HEAD', '--sort=-creatordate', 'v*'])
    .split('\n')
    .filter((tag) => tag !== '' && tag !== `v${version}`);
  const [previous] = tags;
  const range = previous === undefined ? 'HEAD' : `${previous}..HEAD`;
  const subjects = output('git', ['log', '--no-merges', '--format=- %s', range]);
  const since = previous === undefined ? 'This is the first release.' : `Changes since ${previous}:`;
  return `# Espalier ${version}\n\n${since}\n\n${subjects}`;
}
