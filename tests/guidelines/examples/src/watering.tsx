import { useMutation } from "convex/react";
import { api } from "../convex/_generated/api";

export function useWatering(row: number): ReturnType<typeof useMutation<typeof api.plots.water>> {
  // example
  return water;
}
