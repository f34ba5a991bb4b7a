/** What `espalier installations inspect -o` accepts. */
export const modes = ['text', 'tree', 'wide', 'yaml', 'json', 'name', 'dot', 'mermaid'] as const;

export type Mode = (typeof modes)[number];
