/** What must hold of a Dockerfile that is released, told from its text alone. */

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Instructions in order; lines that end with a backslash go on in the next. */
function instructionsIn(text: string): readonly Instruction[] {
  return text
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...rest] = line.split(/\s+/);
      return { name: name.toUpperCase(), rest: rest.join(' ') };
    });
}

/** A tag with all its numbers, or a digest. */
const PINNED = /:\d+\.\d+\.\d+[\w.-]*$|@sha256:[0-9a-f]{64}$/;
const FETCHES = /\b(curl|wget)\b|https?:\/\//;

/** Sentences about what is wrong; none for a good one. @param isThere whether a path is in the repository */
export function errorsIn(text: string, isThere: (path: string) => boolean): readonly string[] {
  const instructions = instructionsIn(text);
  const values = (wanted: string): string[] =>
    instructions.filter(({ name }) => name === wanted).map(({ rest }) => rest);
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const user = last.findLast(({ name }) => name === 'USER')?.rest;
  return [
    ...basesIn(instructions).flatMap((image) =>
      image === 'scratch' || PINNED.test(image) ? [] : [`base image ${image} is not pinned`],
    ),
    ...(user !== undefined && /^[1-9]\d*(:[1-9]\d*)?$/.test(user)
      ? []
      : [`the last stage runs as ${user ?? 'root'}, not as a number other than 0`]),
    ...values('ADD').map((rest) => `ADD ${rest}: use COPY, which fetches and unpacks nothing`),
    ...values('RUN').flatMap((rest) => (FETCHES.test(rest) ? [`RUN ${rest}: fetches from somewhere`] : [])),
    ...values('COPY').flatMap((rest) => copied(rest, isThere)),
    ...last.flatMap(({ name, rest }) =>
      ['ENTRYPOINT', 'CMD'].includes(name) && !rest.startsWith('[')
        ? [`${name} ${rest}: goes through a shell`]
        : [],
    ),
  ];
}

/** Images that stages begin with, arguments put in. */
function basesIn(instructions: readonly Instruction[]): readonly string[] {
  const defaults = new Map(
    instructions.filter(({ name }) => name === 'ARG').map(({ rest }) => rest.split('=') as [string, string]),
  );
  const stages = new Set<string>();
  const bases: string[] = [];
  for (const { name, rest } of instructions) {
    if (name !== 'FROM') continue;
    const [image = '', , stage] = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
    const base = image.replace(/\$\{(\w+)\}/g, (_, arg: string) => defaults.get(arg) ?? '');
    if (!stages.has(base)) bases.push(base);
    if (stage) stages.add(stage);
  }
  return bases;
}

function copied(rest: string, isThere: (path: string) => boolean): readonly string[] {
  const words = rest.split(/\s+/);
  if (words.some((word) => word.startsWith('--from='))) return [];
  return words.slice(0, -1).flatMap((path) => {
    if (path === '.') return [`COPY ${rest}: takes everything, name what is needed`];
    return isThere(path) ? [] : [`COPY ${rest}: there is no ${path}`];
  });
}
