import { defineApp } from "convex/server";
import { v } from "convex/values";
// example
