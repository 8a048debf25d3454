// example
import { expect, test } from "vitest";
import { api } from "./_generated/api";
