/** Names of files with landscape tests; other commands leave these files out. */
export const isTestFile = (name: string): boolean => /\.test\.ya?ml$/.test(name);
