/**
 * The option `-o, --output`, with the same formats wherever it means the same: reports are text, JSON or YAML; lists of
 * objects also have wide and name; objects are YAML, JSON or their names.
 */
import { Option } from 'commander';
import type { MachineFormat } from './documents.ts';

/** Formats of a report. */
export type ReportFormat = 'text' | MachineFormat;

/** Formats of a list of objects: `wide` has more columns, `name` is for scripts, as with kubectl. */
export type ListFormat = ReportFormat | 'wide' | 'name';

/** Formats of objects. */
export type ObjectFormat = MachineFormat | 'name';

/** @param others formats that only this command has */
export const reportOption = (description = 'output format', others: readonly string[] = []): Option =>
  new Option('-o, --output <format>', description)
    .choices(['text', 'json', 'yaml', ...others])
    .default('text');

export const listOption = (): Option =>
  reportOption('output format: wide has more columns, name is for scripts', ['wide', 'name']);

/** @param others formats that only this command has */
export const documentOption = (description = 'output format', others: readonly string[] = []): Option =>
  new Option('-o, --output <format>', description).choices(['yaml', 'json', ...others]).default('yaml');

/** @param others formats that only this command has */
export const objectOption = (description: string, others: readonly string[] = []): Option =>
  documentOption(`${description}, or only their names`, ['name', ...others]);
