/**
 * The option `-o, --output`, with the same formats wherever it means the same: reports are text, JSON or YAML; objects
 * are YAML or JSON.
 */
import { Option } from 'commander';
import type { MachineFormat } from './documents.ts';

/** Formats of a report. */
export type ReportFormat = 'text' | MachineFormat;

/** @param others formats that only this command has */
export const reportOption = (description = 'output format', others: readonly string[] = []): Option =>
  new Option('-o, --output <format>', description)
    .choices(['text', 'json', 'yaml', ...others])
    .default('text');

/** @param others formats that only this command has */
export const documentOption = (description = 'output format', others: readonly string[] = []): Option =>
  new Option('-o, --output <format>', description).choices(['yaml', 'json', ...others]).default('yaml');
