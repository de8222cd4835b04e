from typing import Any

from rest_framework import serializers

from helpdesk.models import Comment, Ticket


class CommentSerializer(serializers.ModelSerializer):
    class Meta:
        model = Comment
        fields = ["text"]


class TicketSerializer(serializers.ModelSerializer):
    comments = CommentSerializer(many=True, required=False)

    class Meta:
        model = Ticket
        fields = ["id", "subject", "body", "priority", "status", "comments"]
        read_only_fields = ["status"]

    def validate_subject(self, subject: str) -> str:
        if subject.isupper():
            raise serializers.ValidationError("Please do not shout.")
        return subject

    def create(self, validated_data: dict[str, Any]) -> Ticket:
        comments = validated_data.pop("comments", [])
        ticket: Ticket = super().create(validated_data)
        for comment in comments:
            Comment.objects.create(ticket=ticket, **comment)
        return ticket
