/**
 * A column of a batch as PostgreSQL reads it. The driver can do it too, but searches every id twice for what would need escaping; with some thirty columns of five hundred rows that was
 * the largest part of what a consumer did for an order (docs/decisions/0025).
 */

/** Needs no quotes. NULL in any case of its letters would, so what is as long as that is quoted. */
const BARE = /^[A-Za-z0-9_.:+-]+$/;
const NULL_LENGTH = 4;

function element(value: string): string {
  if (value.length !== NULL_LENGTH && BARE.test(value)) return value;
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The literal of an array of texts, numbers, truth values and nulls; null: it has others, which are left to the driver. */
export function arrayLiteral(values: readonly unknown[]): string | null {
  let text = '{';
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (index > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'string') text += element(value);
    else if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') text += String(value);
    else return null;
  }
  return `${text}}`;
}

/** A parameter as it is handed to the driver. */
export function asParameter(value: unknown): unknown {
  return Array.isArray(value) ? (arrayLiteral(value) ?? value) : value;
}
