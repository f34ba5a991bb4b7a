/**
 * Transcripts: what a shell shows when kubectl talks to a genuine kube-apiserver, chance and time taken out.
 *
 *     ## create: names that are taken
 *     $ kubectl create configmap a
 *     configmap/a created
 *
 * `##` begins a section: the name of its namespace, and what it is about. `$` is a command, `>` goes on with it, and
 * the rest is the answer, ended by `[exit N]` when the command fails. `#` at the start of a file is a comment.
 */

export interface Exchange {
  readonly command: string;
  readonly answer: string;
}

export interface Section {
  readonly namespace: string;
  readonly title: string;
  readonly exchanges: Exchange[];
}

export function parseTranscript(text: string): Section[] {
  const sections: Section[] = [];
  let command: string[] = [];
  let answer: string[] = [];
  const finish = (): void => {
    if (command.length > 0)
      sections
        .at(-1)
        ?.exchanges.push({ command: command.join('\n'), answer: answer.map((l) => `${l}\n`).join('') });
    [command, answer] = [[], []];
  };
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const heading = /^## ([a-z]+): (.+)$/.exec(line);
    if (heading) {
      if (answer.at(-1) === '') answer.pop(); // the empty line between sections
      finish();
      sections.push({ namespace: heading[1] ?? '', title: heading[2] ?? '', exchanges: [] });
    } else if (line.startsWith('$ ')) {
      finish();
      command.push(line.slice(2));
    } else if (line.startsWith('> ') || line === '>') command.push(line.slice(2));
    else if (command.length > 0) answer.push(line);
  }
  finish();
  return sections;
}

export function printTranscript(sections: readonly Section[]): string {
  return sections
    .map(({ namespace, title, exchanges }) =>
      [
        `## ${namespace}: ${title}\n`,
        ...exchanges.map(({ command, answer }) => `$ ${command.replaceAll('\n', '\n> ')}\n${answer}`),
      ].join(''),
    )
    .join('\n');
}
