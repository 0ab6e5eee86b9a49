/** The allocator strategies by name. Adding one touches its own file and this one. */
import type { AllocatorStrategy } from '../../../domain/role-config.js';
import type { Allocator } from './allocator-port.js';
import { rowAllocator, rowKeeper } from './row.js';
import { tokenAllocator, tokenKeeper } from './token.js';
import type { UnitKeeper } from './unit-keeper-port.js';

export const ALLOCATORS: Readonly<Record<AllocatorStrategy, Allocator>> = { token: tokenAllocator, row: rowAllocator };

export const UNIT_KEEPERS: Readonly<Record<AllocatorStrategy, UnitKeeper>> = { token: tokenKeeper, row: rowKeeper };
