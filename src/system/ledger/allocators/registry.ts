/** The allocator strategies by name. Adding one touches its own file and this one. */
import type { AllocatorStrategy } from '../../../domain/role-config.js';
import type { Allocator } from './allocator-port.js';
import { rowAllocator } from './row.js';
import { tokenAllocator } from './token.js';

export const ALLOCATORS: Readonly<Record<AllocatorStrategy, Allocator>> = { token: tokenAllocator, row: rowAllocator };
