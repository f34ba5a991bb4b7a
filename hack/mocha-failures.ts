/** Failures name what differs, not how many elements do: the closing lines of a run are all that CI keeps. */
import { config } from 'chai';

config.truncateThreshold = 2000;
