import { usePaginatedQuery } from "convex/react";
import { api } from "../convex/_generated/api";

const step = 5;

export function useFeed(topic: string) {
  const feed = usePaginatedQuery(api.articles.onTopic, { topic }, { initialNumItems: step });
  return {
    status: feed.status,
    titles: feed.results.map(({ _id: id, title }) => ({ id, title })),
    more: () => feed.loadMore(step),
  };
}
