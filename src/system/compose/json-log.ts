/** The log of a role: one JSON object a line on stderr, so that stdout stays free and the lines of many processes can be merged by time. */
import type { RoleSurroundings } from '../role.js';

/** Times are real ones whatever the role's clock says: a log that lies about time is of no use where a clock is skewed. */
export function createJsonLog(instance: string): RoleSurroundings['log'] {
  return (level, text, fields = {}) => {
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), instance, level, text, ...fields })}\n`);
  };
}
